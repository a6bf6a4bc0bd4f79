# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks for a run: namespaces joined by veth pairs and by weir-link, and the topologies that experiments use.

A World's namespaces have a prefix, so several worlds can exist at once. The emulated link gets every packet between
hosts separately, because segmentation offload is off (a TCP with gso_max_segs 1 sends single segments).
"""
import array
import contextlib
import fcntl
import os
import socket
import struct
import subprocess

from pyroute2 import IPRoute, netns

from lab.run import Failed, Processes, program

SIOCETHTOOL = 0x8946
ETHTOOL_SETTERS = {"gro": 0x2c, "gso": 0x24, "tso": 0x1f}

# The settings of every namespace. Forwarding costs nothing if there is nothing to forward. TCP starts each run without
# cached metrics of an earlier one. Connections begin with Reno, regardless of the machine's default: one that begins
# with bbr is paced, and stays paced after a change of its congestion control.
SYSCTLS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv6/conf/default/accept_dad": "0",
}


@contextlib.contextmanager
def inside(namespace):
    """Within the block, the calling thread is in the network namespace NAMESPACE."""
    netns.pushns(namespace)
    try:
        yield
    finally:
        netns.popns()


def offload_off(device):
    """Turns off segmentation and receive offload of a device of this namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command in ETHTOOL_SETTERS.values():
            value = array.array("B", struct.pack("II", command, 0))
            request = struct.pack("16sP", device.encode(), value.buffer_info()[0])
            fcntl.ioctl(s.fileno(), SIOCETHTOOL, request.ljust(40, b"\0"))


def bdp_bytes(mbit, rtt_ms):
    """Returns the bandwidth-delay product."""
    return round(mbit * 1e6 / 8 * rtt_ms / 1e3)


class World:
    """Namespaces and the links between them; leaving the `with` block removes them all."""

    def __init__(self, directory, build, prefix="w", sysctls=None):
        self.directory = directory
        self.build = build
        self.prefix = prefix
        self.sysctls = {**SYSCTLS, **(sysctls or {})}
        self.processes = Processes(directory)
        self.names = {}
        self.links = {}
        self._veths = 0
        self._subnets = 0

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.processes.__exit__(*what)
        for full in self.names.values():
            with contextlib.suppress(OSError):
                netns.remove(full)

    def add(self, name):
        """Creates a namespace with its loopback up."""
        full = f"{self.prefix}-{name}"
        netns.create(full)
        self.names[name] = full
        with inside(full):
            for key, value in self.sysctls.items():
                with open(os.path.join("/proc/sys", key), "w", encoding="ascii") as f:
                    f.write(value)
            with IPRoute() as ip:
                ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")
        return full

    def subnet(self):
        """Returns addresses for the two ends of one more wire: 10.N.0.1 and 10.N.0.2."""
        self._subnets += 1
        return f"10.{self._subnets}.0.1", f"10.{self._subnets}.0.2"

    def veth(self, a, b, offload=False):
        """Creates a wire without delay or limit from A to B; returns their addresses on it. OFFLOAD: the kernel hands over
        segments of up to 64 KB, as to a network card that cuts them."""
        self._veths += 1
        names = [f"v{self._veths}-{i}" for i in "ab"]
        addresses = self.subnet()
        ends = [self.names[a], self.names[b]]
        with inside(ends[0]), IPRoute() as ip, contextlib.ExitStack() as stack:
            fd = os.open(f"/run/netns/{ends[1]}", os.O_RDONLY)
            stack.callback(os.close, fd)
            segments = {} if offload else {"gso_max_segs": 1}
            ip.link("add", ifname=names[0], kind="veth", **segments,
                    peer={"ifname": names[1], "net_ns_fd": fd, **segments})
        for end, name, address in zip(ends, names, addresses):
            with inside(end), IPRoute() as ip:
                index = ip.link_lookup(ifname=name)[0]
                if not offload:
                    offload_off(name)
                    ip.link("set", index=index, gso_max_segs=1)
                ip.addr("add", index=index, address=address, prefixlen=30)
                ip.link("set", index=index, state="up")
        return addresses

    def link(self, name, a, b, a_to_b, b_to_a, *options):
        """Creates an emulated link from A to B (the syntax is in docs/lab.md); returns the two ends' addresses."""
        addresses = self.subnet()
        number = len(self.links) + 1
        argv = [program(self.build, "weir-link"), "--ns-a", self.names[a], "--ns-b", self.names[b],
                "--addr-a", addresses[0] + "/30", "--addr-b", addresses[1] + "/30",
                "--dev-a", f"weir{number}-a", "--dev-b", f"weir{number}-b", "--a-to-b", a_to_b, "--b-to-a", b_to_a,
                "--stats", self.path(f"{name}.jsonl"), *options]
        process = self.processes.start(None, argv, f"link-{name}")
        process.wait_line(r"weir-link: ready")
        self.links[name] = process
        return addresses

    def route(self, at, to, via):
        """Routes packets at namespace AT for TO ("default" or a prefix) to the neighbour VIA."""
        with inside(self.names[at]), IPRoute() as ip:
            ip.route("add", dst="0.0.0.0/0" if to == "default" else to, gateway=via)

    def initial_window(self, at, packets):
        """Sets the initial window of connections from namespace AT (Linux: 10, RFC 6928; in 2002: 2, RFC 2581)."""
        with inside(self.names[at]), IPRoute() as ip:
            default = next(r for r in ip.get_routes(table=254) if not r["dst_len"])
            ip.route("change", dst="0.0.0.0/0", gateway=default.get_attr("RTA_GATEWAY"),
                     metrics={"initcwnd": packets})

    def start(self, at, argv, log=None, **files):
        """Starts a program of the build directory (or a path, with a slash) in namespace AT; FILES: its stdin and stdout."""
        path = argv[0] if "/" in argv[0] else program(self.build, argv[0])
        return self.processes.start(self.names[at], [path, *argv[1:]], log, **files)

    def path(self, name):
        """Returns the path of a file of this run."""
        return os.path.join(self.directory, name)

    def ping(self, at, address, packets=1):
        """Returns the shortest round-trip time in ms; raises if no reply comes. PACKETS: more than 1 on a link with losses."""
        done = subprocess.run(["nsenter", f"--net=/run/netns/{self.names[at]}", "ping", "-c", str(packets), "-i", "0.2", "-W", "3",
                               address], capture_output=True, text=True)
        times = [float(line.rsplit("time=", 1)[1].split()[0]) for line in done.stdout.splitlines() if "time=" in line]
        if not times:
            raise Failed(f"no reply from {address} to {packets} pings: {done.stdout}{done.stderr}")
        return min(times)


def _attach(world, host, router, access):
    """Joins a host to its router, by a wire or by an access link given as two texts; returns the host's address."""
    if access:
        host_end, router_end = world.link(f"access-{host}", host, router, *access)
    else:
        host_end, router_end = world.veth(host, router)
    world.route(host, "default", router_end)
    return host_end


def _attach_all(world, hosts, router, access):
    return {host: _attach(world, host, router, (access or {}).get(host)) for host in hosts}


def _routes(world, router, hosts, via):
    for address in hosts.values():
        world.route(router, address + "/32", via)


def dumbbell(world, senders, receivers, forward, backward, *options, access=None):
    """senders - left router = "bottleneck" = right router - receivers. FORWARD carries the packets of the senders.
    access: {host: (text towards its router, text from it)} for hosts with their own access link.
    Returns the address of each host."""
    for name in (*senders, "left", "right", *receivers):
        world.add(name)
    left = _attach_all(world, senders, "left", access)
    right = _attach_all(world, receivers, "right", access)
    left_end, right_end = world.link("bottleneck", "left", "right", forward, backward, *options)
    _routes(world, "left", right, right_end)
    _routes(world, "right", left, left_end)
    return {**left, **right}


def chain(world, hops, hosts, access=None):
    """Routers "router0" = link "hop0" = "router1" ... in a row, and hosts at them. HOPS: functions that return, just before
    the link is made, its texts and options: (forward, backward, *options). HOSTS: {name: number of its router}; access as in
    dumbbell(). Returns the address of each host."""
    routers = [f"router{i}" for i in range(len(hops) + 1)]
    for name in (*routers, *hosts):
        world.add(name)
    at = {host: _attach(world, host, routers[number], (access or {}).get(host)) for host, number in hosts.items()}
    for i, hop in enumerate(hops):
        left_end, right_end = world.link(f"hop{i}", routers[i], routers[i + 1], *hop())
        for host, number in hosts.items():
            if number > i:
                world.route(routers[i], at[host] + "/32", right_end)
            else:
                world.route(routers[i + 1], at[host] + "/32", left_end)
    return at


def two_part_path(world, backbone, access, cross=("cross-left", "cross-middle", "cross-right"), options=(),
                  backbone_options=()):
    """server - left router = "backbone" = proxy = "access" = right router - client, with a host for cross traffic at
    each of left, proxy and right, or without them (CROSS is empty). BACKBONE and ACCESS are pairs of texts: towards the client, towards the server.
    OPTIONS: weir-link's, for both links.
    The proxy forwards packets, too: what does not need it passes. Returns the address of each host."""
    for name in ("server", "left", "proxy", "right", "client", *cross):
        world.add(name)
    left = _attach_all(world, ("server", *cross[:1]), "left", None)
    middle = _attach_all(world, cross[1:2], "proxy", None)
    right = _attach_all(world, ("client", *cross[2:]), "right", None)
    left_end, proxy_left = world.link("backbone", "left", "proxy", *backbone, *options, *backbone_options)
    proxy_right, right_end = world.link("access", "proxy", "right", *access, *options)
    _routes(world, "left", {**middle, **right}, proxy_left)
    world.route("left", proxy_right + "/32", proxy_left)
    _routes(world, "proxy", left, left_end)
    _routes(world, "proxy", right, right_end)
    _routes(world, "right", {**middle, **left}, proxy_right)
    world.route("right", proxy_left + "/32", proxy_right)
    return {**left, **middle, **right, "proxy": proxy_left, "proxy-access": proxy_right}
