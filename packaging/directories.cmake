# SPDX-License-Identifier: GPL-2.0-or-later
# Run by cpack: what is installed can be read by everyone, whatever the umask of who makes the packages.
file(CHMOD_RECURSE "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
