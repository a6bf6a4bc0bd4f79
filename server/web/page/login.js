// SPDX-License-Identifier: GPL-2.0-or-later
// The form by which a user of --access logs in, and the button to log out. The server keeps the login in a cookie that no
// script reads, so the page remembers in its own storage that there is one.

const NAME = "weir.user";
const FORM = `
<form id="login" method="post" action="/.weir/login">
  <h2>Log in to watch</h2>
  <p id="login-note"></p>
  <label for="user">User</label>
  <input id="user" name="user" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="63" required>
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" maxlength="399" required>
  <p id="login-error" role="alert"></p>
  <button class="button">Log in</button>
  <p class="soft">With a link that has <code>?key=</code> no password is needed: open the whole link.</p>
</form>`;

const $ = id => document.getElementById(id);
const remembered = () => attempt(() => localStorage.getItem(NAME));

// Storage may be forbidden.
function attempt(what) {
  try {
    return what();
  } catch {
    return null;
  }
}

// Returns the sentence for a refused request.
export function login_error(status, text) {
  return status === 0 ? "The server does not answer. Is it still running? Try again."
    : text ? `${text[0].toUpperCase()}${text.slice(1)}.` : `The server refuses the login: status ${status}. Try again.`;
}

function send(to, form) {
  return fetch(to, { method: "POST", body: form, cache: "no-store" });
}

function style() {
  if (document.querySelector("link[href$='login.css']")) return;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = "/.weir/login.css";
  document.head.append(link);
}

// The page again, without a key: that comes before a login.
function reload() {
  const url = new URL(location.href);
  url.searchParams.delete("key");
  location.replace(url);
}

// Shows the form instead of the player. `reason`: of the server, why the request was refused.
export function show_login(reason, { had_key, status }) {
  style();
  const user = remembered();
  attempt(() => localStorage.removeItem(NAME));
  $("leave")?.remove();
  $("login")?.remove();
  for (const id of ["player", "list"]) $(id).hidden = true;
  document.body.insertAdjacentHTML("beforeend", FORM);
  const form = $("login"), error = $("login-error");
  if (status === 403) {
    $("login-note").textContent = login_error(status, reason);
    show_leave(user);
  } else if (had_key) {
    $("login-note").textContent = login_error(status, reason);
  } else if (user) {
    $("login-note").textContent = window.top === window ? "The last login is over: log in again."
      : "This browser does not keep a login inside another site's page: open this page in a window of its own.";
  }
  form.onsubmit = async e => {
    e.preventDefault();
    const fields = new URLSearchParams(new FormData(form));
    error.textContent = "";
    form.classList.add("busy");
    let status = 0, text = "";
    try {
      const answer = await send("/.weir/login", fields);
      ({ status } = answer);
      text = (await answer.text()).trim();
    } catch { /* status 0 */ }
    form.classList.remove("busy");
    if (status === 204) {
      attempt(() => localStorage.setItem(NAME, fields.get("user")));
      return reload();
    }
    error.textContent = login_error(status, text);
    $("password").value = "";
    $("password").focus();
  };
  $("user").focus();
}

// Shows the button to log out, if a user has logged in here.
export function show_leave(user = remembered()) {
  if (!user || $("leave")) return;
  style();
  attempt(() => localStorage.setItem(NAME, user));
  const leave = document.createElement("button");
  leave.id = "leave";
  leave.textContent = "Log out";
  leave.title = `Log out ${user}`;
  leave.onclick = async () => {
    try {
      if ((await send("/.weir/logout")).status !== 204) return;
    } catch {
      leave.textContent = "Not logged out: the server does not answer";
      return;
    }
    attempt(() => localStorage.removeItem(NAME));
    reload();
  };
  document.querySelector("header").append(leave);
}
