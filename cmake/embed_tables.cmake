# SPDX-License-Identifier: BSD-3-Clause
# cmake -DTABLES="a.txt;b.txt" -DOUTPUT=FILE -P embed_tables.cmake
# Turns tuned/<operation>.<device>.txt into the arrays that src/table.h declares.

set(texts "")
set(rows "")
set(count 0)
foreach(table IN LISTS TABLES)
    get_filename_component(name ${table} NAME)
    if(NOT name MATCHES "^([a-z0-9_]+)\\.([a-z0-9_]+)\\.txt$")
        message(FATAL_ERROR "${table}: a tuned table is named <operation>.<device>.txt")
    endif()
    set(operation ${CMAKE_MATCH_1})
    set(device ${CMAKE_MATCH_2})
    # Bytes, because C promises no string literal longer than 4095.
    file(READ ${table} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND texts "static const char ${operation}_${device}[] = {\n    ${bytes}0};\n")
    string(APPEND rows "    {\"${operation}\", \"${device}\", ${operation}_${device}},\n")
    math(EXPR count "${count} + 1")
endforeach()

if(count EQUAL 0)
    # C has no empty array; nobody looks beyond the count.
    set(rows "    {0, 0, 0},\n")
endif()
file(WRITE ${OUTPUT}
    "#include \"table.h\"\n\n${texts}\n"
    "const embedded_table_t batchlas_embedded_tables[] = {\n${rows}};\n"
    "const int batchlas_embedded_table_count = ${count};\n")
