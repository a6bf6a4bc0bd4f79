// SPDX-License-Identifier: GPL-2.0-or-later
// <weir-video src="http://HOST:8554/live" level="3" start="12" controls="no"></weir-video>, for web pages: a frame with
// the player. Load it with <script src="http://HOST:8554/.weir/weir.js"></script>.
"use strict";
(() => {
  const home = new URL(document.currentScript?.src ?? location.href);

  class WeirVideo extends HTMLElement {
    static observedAttributes = ["src", "level", "start", "controls"];

    connectedCallback() {
      if (!this.style.display) this.style.display = "block";
      if (!this.style.aspectRatio && !this.style.height) this.style.aspectRatio = "16 / 9";
      this.update();
    }

    attributeChangedCallback() {
      if (this.isConnected) this.update();
    }

    update() {
      const url = new URL(this.getAttribute("src") ?? "/", home);
      if (!/^https?:$/.test(url.protocol)) return; // "javascript:" would run in the page
      url.searchParams.set("embed", "");
      for (const name of ["level", "start", "controls"])
        if (this.hasAttribute(name)) url.searchParams.set(name, this.getAttribute(name));
      if (!this.frame) {
        this.frame = document.createElement("iframe");
        this.frame.allow = "autoplay; fullscreen";
        this.frame.title = this.title || "Video";
        this.frame.style.cssText = "border:0;width:100%;height:100%;display:block";
        this.append(this.frame);
      }
      if (this.frame.src !== url.href) this.frame.src = url.href;
    }
  }

  if (!customElements.get("weir-video")) customElements.define("weir-video", WeirVideo);
})();
