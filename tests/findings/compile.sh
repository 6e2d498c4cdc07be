#!/usr/bin/env bash
# Makes ptx/NAME.ptx with nvcc, or with --clang ptx/NAME.clang.ptx with clang, of the kernels named, or of all that have none
# yet. ARCH=sm_90 is for kernels that ask for it; a line "// arch: sm_90" at the head of a kernel says so.
set -euo pipefail
cd "$(dirname "$0")"
by=nvcc suffix=.ptx
if [ "${1:-}" = --clang ]; then by=clang suffix=.clang.ptx; shift; fi
names=("$@")
if [ ${#names[@]} = 0 ]; then
    for file in *.cu; do [ -e "ptx/${file%.cu}$suffix" ] || names+=("${file%.cu}"); done
fi
for name in "${names[@]}"; do
    arch=$(sed -n 's,^// arch: ,,p' "$name.cu")
    if [ "$by" = nvcc ]; then
        ${NVCC:-nvcc} -ptx -lineinfo -std=c++17 -arch="${arch:-${ARCH:-sm_75}}" -o "ptx/$name$suffix" "$name.cu"
    else
        ${LOCKSTEP:-../../build/release/lockstep} compile "$name.cu" --compiler clang -o "ptx/$name$suffix"
    fi
    sed -i "s,^\(\t\.file\t[0-9]* \"\)[^\"]*/,\1," "ptx/$name$suffix"
done
