# `cmake --install` and CPack: the binary finds kernels/, lessons/ and assets/ in ../share/lockstep (core/base/files.h).
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/lockstep)
install(TARGETS lockstep)
install(DIRECTORY ${CMAKE_BINARY_DIR}/runtime/ DESTINATION lib/lockstep)  # what whole programs run on, under all its names
install(DIRECTORY kernels assets DESTINATION ${share} PATTERN reference EXCLUDE)  # that is what tests compare with
install(DIRECTORY lessons DESTINATION ${share} PATTERN player EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES app/lockstep.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES app/lockstep.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME lockstep.xml)
install(FILES assets/icons/lockstep.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)

set(CPACK_PACKAGE_VENDOR "Lockstep")
set(CPACK_PACKAGE_CONTACT "The Lockstep authors <lockstep@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # the shared libraries that the binary asks for
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang, libclc-14, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, libllvm14")
include(CPack)
