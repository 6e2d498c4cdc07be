"""Arrays of others, borrowed as they lie: numpy, torch on the CPU, DLPack and whatever has __array_interface__."""
from __future__ import annotations

import ctypes
from typing import Any

from ._errors import Error

_kinds = {"f": "f", "i": "i", "u": "u", "b": "u"}


def _from_interface(array: Any, who: str):
    interface = array.__array_interface__
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    if interface["typestr"][0] == ">" and size > 1:
        raise Error(f"{who} is big-endian, which no GPU reads: array.astype(array.dtype.newbyteorder('<')) is not")
    shape = tuple(int(n) for n in interface["shape"])
    elements = 1
    for extent in shape:
        elements *= extent
    data = interface.get("data")
    if data is None:
        raise Error(f"{who} has no address: give a numpy array")
    strides = interface.get("strides")
    if strides is not None and elements > 1 and not _dense(shape, strides, size):
        raise Error(f"{who} is not contiguous: numpy.ascontiguousarray gives a copy that is")
    if kind == "c":
        name, shape = f"f{size * 4}", shape + (2,)
    elif kind == "V":
        name, shape = "u8", shape + (size,)
    elif kind in _kinds:
        name = f"{_kinds[kind]}{size * 8}"
    else:
        raise Error(f"{who} has elements of type {interface['typestr']}, which kernels do not have")
    return ("array", int(data[0]), elements * size, name, list(shape), not data[1])


def _dense(shape, strides, size) -> bool:
    """Whether all elements lie without gaps, in C's order or Fortran's."""
    for order in (range(len(shape) - 1, -1, -1), range(len(shape))):
        step = size
        for k in order:
            if shape[k] != 1 and strides[k] != step:
                break
            step *= shape[k]
        else:
            return True
    return False


def _from_torch(tensor: Any, who: str):
    if tensor.device.type != "cpu":
        raise Error(f"{who} lies on {tensor.device}: tensor.cpu() is a copy in the host's memory")
    if not tensor.is_contiguous():
        raise Error(f"{who} is not contiguous: tensor.contiguous() is")
    names = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "uint8": "u8", "int16": "i16",
             "int32": "i32", "int64": "i64", "bool": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}
    dtype = str(tensor.dtype).split(".")[-1]
    if dtype not in names:
        raise Error(f"{who} has elements of type {dtype}, which kernels do not have")
    return ("array", tensor.data_ptr(), tensor.numel() * tensor.element_size(), names[dtype], list(tensor.shape), True)


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_codes = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "u"}  # DLDataTypeCode: Int, UInt, Float, Bfloat, Bool
_in_host_memory = 1  # kDLCPU


def _from_dlpack(value: Any, who: str):
    if value.__dlpack_device__()[0] != _in_host_memory:
        raise Error(f"{who} lies on a device: give one in the host's memory, as by .cpu()")
    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    if tensor.code not in _codes or tensor.lanes != 1:
        raise Error(f"{who} has elements of a type that kernels do not have")
    shape, size = [tensor.shape[k] for k in range(tensor.ndim)], tensor.bits // 8
    if tensor.strides and not _dense(shape, [tensor.strides[k] * size for k in range(tensor.ndim)], size):
        raise Error(f"{who} is not contiguous: give a copy, as by .contiguous()")
    elements = 1
    for extent in shape:
        elements *= extent
    prepared = ("array", (tensor.data or 0) + tensor.byte_offset, elements * size, f"{_codes[tensor.code]}{tensor.bits}", shape, True)
    return prepared, (value, capsule)


def argument(value: Any, who: str = "an argument"):
    """A kernel's argument as the binding takes it, and what has to stay alive until the launch is over."""
    if value is None or isinstance(value, (bool, int, float, bytes)):
        return value, None
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "data_ptr"):
        return _from_torch(value, who), value
    if hasattr(value, "__array_interface__"):
        interface = value.__array_interface__
        is_scalar = not interface["shape"] and not hasattr(value, "__setitem__")  # numpy.float32(2)
        if is_scalar or (not interface["shape"] and type(value).__name__ != "ndarray"):
            if interface["typestr"][1] == "V":
                return bytes(value.tobytes()), None
            return value.item(), None
        return _from_interface(value, who), value
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value, who)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value), None
    if isinstance(value, (ctypes.Structure, ctypes.Array, ctypes.Union)):
        return bytes(value), None
    if isinstance(value, ctypes._SimpleCData):
        return value.value, None
    if isinstance(value, (list, tuple)):
        raise Error(f"{who} is a {type(value).__name__}: kernels take arrays, as numpy.array(..., dtype=numpy.float32)")
    raise Error(f"{who} is a {type(value).__name__}, which kernels do not take: give an array, a number, bytes or None")


def kept(prepared: Any):
    """A copy of a prepared argument that pickles: (type, shape, bytes) of an array."""
    if not isinstance(prepared, tuple):
        return prepared
    _, address, size, dtype, shape, _ = prepared
    return dtype, shape, ctypes.string_at(address, size)


def again(kept_: Any):
    """The prepared argument of such a copy, and the buffer that has to stay alive."""
    if not isinstance(kept_, tuple):
        return kept_, None
    dtype, shape, data = kept_
    buffer = ctypes.create_string_buffer(data, max(1, len(data)))
    return ("array", ctypes.addressof(buffer), len(data), dtype, shape, True), buffer
