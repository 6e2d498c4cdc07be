// Streams, events and functions of the host in a stream's order.
#include <algorithm>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;
using lockstep::model::SyncWith;

namespace {

void create_stream(Runtime& r, cudaStream_t* stream, unsigned flags, int priority) {
    need(stream, "stream");
    if ((flags & ~unsigned{cudaStreamNonBlocking}) != 0) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
    *stream = static_cast<cudaStream_t>(r.handle_of(r.add_stream(flags, std::clamp(priority, -5, 0))));
}

void record(Runtime& r, cudaEvent_t handle, cudaStream_t in, bool as_node) {
    EventState& event = event_of(r, handle);
    const StreamState& stream = stream_of(r, in);
    if (stream.number != 0 && stream.device != event.device)
        throw CallFailure{cudaErrorInvalidResourceHandle, "the event and the stream belong to different devices"};
    r.record(event, stream.number, as_node);
}

void create_event(Runtime& r, cudaEvent_t* event, unsigned flags) {
    need(event, "event");
    const bool between_processes = (flags & cudaEventInterprocess) != 0;
    if (flags > 7 || (between_processes && (flags & cudaEventDisableTiming) == 0))
        throw CallFailure{cudaErrorInvalidValue, "there is no event with such flags"};
    *event = reinterpret_cast<cudaEvent_t>(r.add_event(flags));
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return call(__func__, [&](Runtime& r) { create_stream(r, stream, 0, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return call(__func__, [&](Runtime& r) { create_stream(r, stream, flags, 0); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    return call(__func__, [&](Runtime& r) { create_stream(r, stream, flags, priority); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        const StreamState& state = stream_of(r, stream);
        if (state.number == 0 || stream == cudaStreamPerThread)
            throw CallFailure{cudaErrorInvalidResourceHandle, "the default stream cannot be destroyed"};
        r.remove_stream(state.number);
    });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        const StreamState& state = stream_of(r, stream);
        if (!state.capture) r.need_no_capture();
        r.synchronize(SyncWith::stream, state.number, nullptr);
    });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) {
        r.spend_call();
        const StreamState& state = stream_of(r, stream);
        if (state.number == 0) r.need_default_stream_apart();
        return r.is_done(state.number) ? cudaSuccess : cudaErrorNotReady;
    });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        if (flags > cudaEventWaitExternal) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
        r.wait(stream_of(r, stream).number, event_of(r, event), (flags & cudaEventWaitExternal) != 0);
    });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        need(callback, "callback");
        if (flags != 0) throw CallFailure{cudaErrorInvalidValue, "the flags are 0"};
        if (Capture* const capture = stream_of(r, stream).capture) {
            capture->invalid = true;
            throw CallFailure{cudaErrorStreamCaptureUnsupported, "callbacks are not captured: cudaLaunchHostFunc is"};
        }
        r.submit(stream_of(r, stream).number, HostWork{.callback = [=] { callback(stream, cudaSuccess, data); }});
    });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    return call(__func__, [&](Runtime& r) {
        need(function, "function");
        r.submit(stream_of(r, stream).number, HostWork{.function = function, .data = data});
    });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
    return call(__func__, [&](Runtime& r) {
        need(flags, "flags");
        *flags = stream_of(r, stream).flags;
    });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return call(__func__, [&](Runtime& r) {
        need(priority, "priority");
        *priority = stream_of(r, stream).priority;
    });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return call(__func__, [&](Runtime& r) {
        need(device, "device");
        const StreamState& state = stream_of(r, stream);
        *device = static_cast<int>(state.number == 0 ? r.device() : state.device);
    });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    return call(__func__, [&](Runtime& r) {
        need(id, "id");
        *id = stream_of(r, stream).number;
    });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID, const cudaLaunchAttributeValue*) {
    return call(__func__, [&](Runtime& r) { stream_of(r, stream); });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID, cudaLaunchAttributeValue* value) {
    return call(__func__, [&](Runtime& r) {
        need(value, "value");
        stream_of(r, stream);
        *value = {};
    });
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return call(__func__, [&](Runtime& r) {
        stream_of(r, to);
        stream_of(r, from);
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return call(__func__, [&](Runtime& r) { create_event(r, event, 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return call(__func__, [&](Runtime& r) { create_event(r, event, flags); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return call(__func__, [&](Runtime& r) { record(r, event, stream, false); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    return call(__func__, [&](Runtime& r) {
        if (flags > cudaEventRecordExternal) throw CallFailure{cudaErrorInvalidValue, "there is no such flag"};
        record(r, event, stream, (flags & cudaEventRecordExternal) != 0);
    });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) {
        r.spend_call();
        return r.is_done(event_of(r, event)) ? cudaSuccess : cudaErrorNotReady;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { r.synchronize(SyncWith::event, 0, &event_of(r, event)); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return call(__func__, [&](Runtime& r) { r.remove_event(&event_of(r, event)); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return call(__func__, [&](Runtime& r) {
        need(milliseconds, "milliseconds");
        const EventState &first = event_of(r, begin), &second = event_of(r, end);
        for (const EventState* event : {&first, &second}) {
            if (!event->recorded || (event->flags & cudaEventDisableTiming) != 0)
                throw CallFailure{cudaErrorInvalidResourceHandle,
                                  event->recorded ? "an event was made without timing" : "an event was never recorded"};
            if (!r.is_done(*event)) throw CallFailure{cudaErrorNotReady, "an event has not come about: wait for it first"};
        }
        *milliseconds = static_cast<float>((*second.at_us - *first.at_us) / 1000);
    });
}
LOCKSTEP_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
LOCKSTEP_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags)
LOCKSTEP_ALIAS(cudaEventRecord_ptsz, cudaEventRecord)
LOCKSTEP_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc)
LOCKSTEP_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback)
LOCKSTEP_ALIAS(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes)
LOCKSTEP_ALIAS(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute)
LOCKSTEP_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice)
LOCKSTEP_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags)
LOCKSTEP_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId)
LOCKSTEP_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority)
LOCKSTEP_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery)
LOCKSTEP_ALIAS(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute)
LOCKSTEP_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize)
LOCKSTEP_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent)
LOCKSTEP_INTERFACE_END
