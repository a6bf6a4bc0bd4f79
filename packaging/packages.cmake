# SPDX-License-Identifier: GPL-2.0-or-later
# The .deb files: `cpack` in the build directory, or ./run package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# Who makes the packages answers for them, as Debian's tools ask: DEBFULLNAME and DEBEMAIL. The name that holds otherwise is
# reserved and gets no mail (RFC 2606, section 3): nobody is claimed to maintain them.
set(CPACK_PACKAGE_CONTACT "The Weir project <nobody@weir.example>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON) # /etc and /lib are not under the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/directories.cmake)
set(CPACK_COMPONENTS_ALL weir weir-lab libweir-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_WEIR_PACKAGE_NAME weir)
set(CPACK_DEBIAN_WEIR_PACKAGE_SECTION video)
set(CPACK_DEBIAN_WEIR_DESCRIPTION "video streaming that measures the quality of experience
weir-send encodes a source into a ladder of scalable levels and serves any
number of viewers over RTSP, each over the transport it asks for: TCP with a
short send buffer, UDP under a rate controller (TFRC, ARC, packet spacing), or
TCP without retransmission. weir-play shows the stream and has a cause for
every frame that was not shown and for every stall. weir-proxy relays streams
from a long path to viewers on a short one.")
# The program loads them by itself, so that nobody sees them in the program.
string(REGEX MATCH "^[0-9]+" avdevice ${AVDEVICE_VERSION})
string(REGEX MATCH "^[0-9]+" avfilter ${AVFILTER_VERSION})
set(CPACK_DEBIAN_WEIR_PACKAGE_DEPENDS "libavdevice${avdevice}, libavfilter${avfilter}")
set(CPACK_DEBIAN_WEIR_PACKAGE_RECOMMENDS "fonts-dejavu-core")
set(CPACK_DEBIAN_WEIR_PACKAGE_SUGGESTS "weir-lab, ffmpeg, libcap2-bin")
set(CPACK_DEBIAN_WEIR_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/debian/conffiles
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst ${CMAKE_CURRENT_SOURCE_DIR}/debian/prerm ${CMAKE_CURRENT_SOURCE_DIR}/debian/postrm)

set(CPACK_DEBIAN_WEIR-LAB_PACKAGE_NAME weir-lab)
set(CPACK_DEBIAN_WEIR-LAB_PACKAGE_SECTION net)
set(CPACK_DEBIAN_WEIR-LAB_DESCRIPTION "emulated networks, and experiments with streaming over them
weir-link joins two network namespaces by an emulated link, weir-traffic
competes for it, weir-sim has the same nodes in virtual time. weir-lab runs
whole experiments on them and sets the results beside the published ones.")
set(CPACK_DEBIAN_WEIR-LAB_PACKAGE_DEPENDS
  "weir (= ${PROJECT_VERSION}), iproute2, python3, python3-matplotlib, python3-numpy, python3-pyroute2")
set(CPACK_DEBIAN_WEIR-LAB_PACKAGE_RECOMMENDS "ffmpeg, iperf3, iputils-ping")

# One package with the library and what a compiler needs: while the library's version is 0, programs are built again with each
# release, and no other package depends on it. A libweir0 beside it would be one more part for three files.
set(CPACK_DEBIAN_LIBWEIR-DEV_PACKAGE_NAME libweir-dev)
set(CPACK_DEBIAN_LIBWEIR-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBWEIR-DEV_DESCRIPTION "library of Weir: a program of your own watches a stream, or sends one
A viewer is weir-play without its window: pictures and audio come when they are
due, with a report of the quality of experience. A sender is weir-send: it
encodes the pictures that the program gives, and serves them over RTSP. The
manual is weir(3).")
set(CPACK_DEBIAN_LIBWEIR-DEV_PACKAGE_DEPENDS "libavdevice${avdevice}, libavfilter${avfilter}")
set(CPACK_DEBIAN_LIBWEIR-DEV_PACKAGE_SUGGESTS "weir, pkg-config")
# The file by which dpkg-shlibdeps knows the package of a program's library, and the call of ldconfig.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

include(CPack)
