# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DFILE=... -DNAME=... -DOUT=... -P embed.cmake: writes a C file with the bytes of FILE as NAME and NAME_len, of embedded.h.
file(READ ${FILE} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR len "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include \"server/export/embedded.h\"\n\nconst char ${NAME}[] = {\n${bytes}\n};\nconst size_t ${NAME}_len = ${len};\n")
