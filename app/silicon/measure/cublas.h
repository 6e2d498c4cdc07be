// cuBLAS as a yardstick, found at run time: nothing of it is needed to build, and nothing else here uses it. Row-major
// products C[M,N] = A[M,K] B[K,N] on the context of the device that is current. Sought on the loader's path and in
// nvidia_library_folders(); LOCKSTEP_LIBCUBLAS names another library.
#pragma once
#include <memory>
#include <string>

#include "core/base/dtype.h"
#include "core/device/device.h"

namespace lockstep::device {

class Cublas {
  public:
    static std::unique_ptr<Cublas> open();  // null where there is none
    ~Cublas();
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;

    std::string version() const;  // "13.0"
    // f32 (on the FP32 lanes), f16 or bf16 with sums in f32, into `stream` of the driver. Throws Failure.
    void multiply(DType type, Pointer a, Pointer b, Pointer c, int m, int n, int k, void* stream);

  private:
    struct Functions;
    Cublas(std::unique_ptr<Functions> functions, void* handle);
    std::unique_ptr<Functions> functions_;
    void* handle_;
};

}  // namespace lockstep::device
