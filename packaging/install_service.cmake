# SPDX-License-Identifier: GPL-2.0-or-later
# Run while installing, which alone knows the prefix: the services and their configuration. Debian's places when that is /usr,
# else the same below the prefix, so that who installs for himself needs no rights elsewhere.
set(root "${CMAKE_INSTALL_PREFIX}")
if(root STREQUAL "/usr")
  set(root "")
endif()
foreach(name send proxy)
  set(service weir-${name}.service)
  file(INSTALL DESTINATION "${root}/etc/weir" TYPE FILE FILES "@CMAKE_CURRENT_BINARY_DIR@/${name}.conf")
  file(READ "@CMAKE_CURRENT_SOURCE_DIR@/${service}" unit)
  string(REPLACE "/usr/bin/" "${CMAKE_INSTALL_PREFIX}/bin/" unit "${unit}")
  string(REPLACE "/etc/weir/" "${root}/etc/weir/" unit "${unit}")
  file(WRITE "@CMAKE_CURRENT_BINARY_DIR@/${service}" "${unit}")
  file(INSTALL DESTINATION "${root}/lib/systemd/system" TYPE FILE FILES "@CMAKE_CURRENT_BINARY_DIR@/${service}")
endforeach()
