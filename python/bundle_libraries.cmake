# Run at install time: copies what `library` needs and what it opens at run time (`opened`) beside it, with all that
# those need, but for what every manylinux machine has, and the licences of Debian's packages that they come from.
# SPDX-License-Identifier: Apache-2.0
set(everywhere "^(lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+|z)|ld-linux.*)\\.so\\.")
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${library} ${opened} RESOLVED_DEPENDENCIES_VAR needed
     PRE_EXCLUDE_REGEXES ${everywhere})
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/rung/lib")
find_program(DPKG_QUERY dpkg-query)
find_program(PATCHELF patchelf REQUIRED)
foreach(path ${needed} ${opened})
  get_filename_component(name ${path} NAME)
  file(REAL_PATH ${path} file)
  file(COPY_FILE ${file} ${folder}/${name} ONLY_IF_DIFFERENT)
  file(CHMOD ${folder}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
       WORLD_READ WORLD_EXECUTE)
  execute_process(COMMAND ${PATCHELF} --force-rpath --set-rpath "$ORIGIN" ${folder}/${name} COMMAND_ERROR_IS_FATAL ANY)
  if(DPKG_QUERY)
    # Debian's packages name their files as they lay before /lib became a link to /usr/lib.
    string(REGEX REPLACE "^/usr(/lib/)" "\\1" before ${file})
    execute_process(COMMAND ${DPKG_QUERY} -S ${file} ${before} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([^:]+):")
      file(COPY_FILE /usr/share/doc/${CMAKE_MATCH_1}/copyright ${folder}/${name}.licence.txt ONLY_IF_DIFFERENT)
    endif()
  endif()
endforeach()
