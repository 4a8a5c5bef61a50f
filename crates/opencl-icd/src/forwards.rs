//! The functions that cl-sys 0.4.3 declares, and those that libOpenCL has besides, defined: each calls its namesake there.

// `clCreateProgramWithBuiltInKernels` takes a `*const char` in cl-sys, where C's `char` is meant: a pointer all the same.
#![allow(improper_ctypes_definitions)]

use std::{ffi::c_void, sync::OnceLock};

use cl_sys::*;

use crate::library;

/// A function of the caller's that is told of an object, with the caller's own pointer.
type Notify<T> = Option<extern "C" fn(T, *mut c_void)>;

/// What a function returns when there is nothing to call.
trait Refusal {
    fn refusal(status: cl_int) -> Self;
}

impl Refusal for cl_int {
    fn refusal(status: cl_int) -> Self {
        status
    }
}

/// All OpenCL handles are this type in cl-sys.
impl Refusal for *mut c_void {
    fn refusal(_: cl_int) -> Self {
        std::ptr::null_mut()
    }
}

impl Refusal for () {
    fn refusal(_: cl_int) {}
}

/// Defines the functions from a list of their signatures, without the arguments' names, which OpenCL's headers have.
///
/// If there is a crate in brackets, it declares them all, and a build of the tests compares the signatures. The suffix
/// `; status` is short for a last argument of type `*mut cl_int`, where the function writes its status.
macro_rules! forward {
    ($declared:tt $(fn $name:ident($($type:ty),* $(; $status:ident)?) $(-> $ret:ty)?;)*) => {
        $(define! { [a b c d e f g h i j k l m n o] $name () ($($type),*) $declared ($($status)?) $(-> $ret)? })*
    };
}

/// Defines a function, once each type has one of the names.
macro_rules! define {
    ([$next:ident $($names:ident)*] $name:ident ($($named:tt)*) ($type:ty $(, $rest:ty)*) $($end:tt)*) => {
        define! { [$($names)*] $name ($($named)* $next: ($type),) ($($rest),*) $($end)* }
    };
    ([$($_:ident)*] $name:ident ($($arg:ident: ($type:ty),)*) () [$($declared:ident)?]
     ($($status:ident)?) $(-> $ret:ty)?) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $name($($arg: $type,)* $($status: *mut cl_int)?) $(-> $ret)? {
            type Function = unsafe extern "system" fn($($type,)* $($status: *mut cl_int)?) $(-> $ret)?;
            // Compiles only if the signature here is the one there.
            $(#[cfg(test)] const _: Function = $declared::$name;)?
            static FUNCTION: OnceLock<Result<Function, cl_int>> = OnceLock::new();
            // SAFETY: `Function` is what cl-sys declares for this name, as the line above checks, or what Khronos' headers do.
            match *FUNCTION.get_or_init(|| unsafe { library::function(stringify!($name)) }) {
                // SAFETY: our caller has promised the callee of this name what it asks of its arguments.
                Ok(function) => unsafe { function($($arg,)* $($status)?) },
                Err(refusal) => {
                    $(if !$status.is_null() {
                        // SAFETY: OpenCL wants `errcode_ret` null or a place for a status, and it is not null.
                        unsafe { $status.write(refusal) };
                    })?
                    Refusal::refusal(refusal)
                }
            }
        }
    };
}

// What cl-sys does not declare and other bindings call: such a program is linked to this crate's functions alone, as the linker finds
// an empty libOpenCL.
forward! { []
    // OpenCL 1.0 to 1.2
    fn clSetCommandQueueProperty(cl_command_queue, cl_command_queue_properties, cl_bool,
        *mut cl_command_queue_properties) -> cl_int;
    fn clUnloadPlatformCompiler(cl_platform_id) -> cl_int;

    // OpenCL 2.2
    fn clSetProgramReleaseCallback(cl_program, Notify<cl_program>, *mut c_void) -> cl_int;
    fn clSetProgramSpecializationConstant(cl_program, cl_uint, size_t, *const c_void) -> cl_int;

    // OpenCL 3.0
    fn clSetContextDestructorCallback(cl_context, Notify<cl_context>, *mut c_void) -> cl_int;
    fn clCreateBufferWithProperties(cl_context, *const cl_ulong, cl_mem_flags, size_t, *mut c_void; status) -> cl_mem;
    fn clCreateImageWithProperties(cl_context, *const cl_ulong, cl_mem_flags, *const cl_image_format,
        *const cl_image_desc, *mut c_void; status) -> cl_mem;

    // Extensions that the Khronos loader exports
    fn clGetKernelSubGroupInfoKHR(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, *const c_void, size_t,
        *mut c_void, *mut size_t) -> cl_int;
    fn clCreateSubDevicesEXT(cl_device_id, *const cl_ulong, cl_uint, *mut cl_device_id, *mut cl_uint) -> cl_int;
    fn clRetainDeviceEXT(cl_device_id) -> cl_int;
    fn clReleaseDeviceEXT(cl_device_id) -> cl_int;
    fn clCreateEventFromGLsyncKHR(cl_context, *mut c_void; status) -> cl_event;
    fn clCreateFromEGLImageKHR(cl_context, *mut c_void, *mut c_void, cl_mem_flags, *const isize; status) -> cl_mem;
    fn clEnqueueAcquireEGLObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueReleaseEGLObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clCreateEventFromEGLSyncKHR(cl_context, *mut c_void, *mut c_void; status) -> cl_event;
}

forward! { [cl_sys]
    // OpenCL 1.0 and 1.1
    fn clGetPlatformIDs(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
    fn clGetPlatformInfo(cl_platform_id, cl_platform_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, *mut cl_device_id, *mut cl_uint) -> cl_int;
    fn clGetDeviceInfo(cl_device_id, cl_device_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clCreateContext(*const cl_context_properties, cl_uint, *const cl_device_id,
        Option<extern "C" fn(*const c_char, *const c_void, size_t, *mut c_void)>, *mut c_void; status) -> cl_context;
    fn clCreateContextFromType(*const cl_context_properties, cl_device_type,
        Option<extern "C" fn(*const c_char, *const c_void, size_t, *mut c_void)>, *mut c_void; status) -> cl_context;
    fn clRetainContext(cl_context) -> cl_int;
    fn clReleaseContext(cl_context) -> cl_int;
    fn clGetContextInfo(cl_context, cl_context_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties; status) -> cl_command_queue;
    fn clRetainCommandQueue(cl_command_queue) -> cl_int;
    fn clReleaseCommandQueue(cl_command_queue) -> cl_int;
    fn clGetCommandQueueInfo(cl_command_queue, cl_command_queue_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clCreateBuffer(cl_context, cl_mem_flags, size_t, *mut c_void; status) -> cl_mem;
    fn clCreateSubBuffer(cl_mem, cl_mem_flags, cl_buffer_create_type, *const c_void; status) -> cl_mem;
    fn clCreateImage2D(cl_context, cl_mem_flags, *mut cl_image_format, size_t, size_t, size_t,
        *mut c_void; status) -> cl_mem;
    fn clCreateImage3D(cl_context, cl_mem_flags, *mut cl_image_format, size_t, size_t, size_t, size_t, size_t,
        *mut c_void; status) -> cl_mem;
    fn clRetainMemObject(cl_mem) -> cl_int;
    fn clReleaseMemObject(cl_mem) -> cl_int;
    fn clGetSupportedImageFormats(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint, *mut cl_image_format,
        *mut cl_uint) -> cl_int;
    fn clGetMemObjectInfo(cl_mem, cl_mem_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clGetImageInfo(cl_mem, cl_image_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clSetMemObjectDestructorCallback(cl_mem, Notify<cl_mem>, *mut c_void) -> cl_int;
    fn clCreateSampler(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode; status) -> cl_sampler;
    fn clRetainSampler(cl_sampler) -> cl_int;
    fn clReleaseSampler(cl_sampler) -> cl_int;
    fn clGetSamplerInfo(cl_sampler, cl_sampler_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clCreateProgramWithSource(cl_context, cl_uint, *const *const c_char, *const size_t; status) -> cl_program;
    fn clCreateProgramWithBinary(cl_context, cl_uint, *const cl_device_id, *const size_t, *const *const c_uchar,
        *mut cl_int; status) -> cl_program;
    fn clRetainProgram(cl_program) -> cl_int;
    fn clReleaseProgram(cl_program) -> cl_int;
    fn clBuildProgram(cl_program, cl_uint, *const cl_device_id, *const c_char, Notify<cl_program>,
        *mut c_void) -> cl_int;
    fn clUnloadCompiler() -> cl_int;
    fn clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t, *mut c_void,
        *mut size_t) -> cl_int;
    fn clCreateKernel(cl_program, *const c_char; status) -> cl_kernel;
    fn clCreateKernelsInProgram(cl_program, cl_uint, *mut cl_kernel, *mut cl_uint) -> cl_int;
    fn clRetainKernel(cl_kernel) -> cl_int;
    fn clReleaseKernel(cl_kernel) -> cl_int;
    fn clSetKernelArg(cl_kernel, cl_uint, size_t, *const c_void) -> cl_int;
    fn clGetKernelInfo(cl_kernel, cl_kernel_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, *mut c_void,
        *mut size_t) -> cl_int;
    fn clWaitForEvents(cl_uint, *const cl_event) -> cl_int;
    fn clGetEventInfo(cl_event, cl_event_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clCreateUserEvent(cl_context; status) -> cl_event;
    fn clRetainEvent(cl_event) -> cl_int;
    fn clReleaseEvent(cl_event) -> cl_int;
    fn clSetUserEventStatus(cl_event, cl_int) -> cl_int;
    fn clSetEventCallback(cl_event, cl_int, Option<extern "C" fn(cl_event, cl_int, *mut c_void)>,
        *mut c_void) -> cl_int;
    fn clGetEventProfilingInfo(cl_event, cl_profiling_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clFlush(cl_command_queue) -> cl_int;
    fn clFinish(cl_command_queue) -> cl_int;
    fn clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, *mut c_void, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueReadBufferRect(cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, *const size_t, size_t,
        size_t, size_t, size_t, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, *const c_void, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueWriteBufferRect(cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, *const size_t,
        size_t, size_t, size_t, size_t, *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueCopyBufferRect(cl_command_queue, cl_mem, cl_mem, *const size_t, *const size_t, *const size_t, size_t,
        size_t, size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueReadImage(cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, size_t, size_t,
        *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueWriteImage(cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, size_t, size_t,
        *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueCopyImage(cl_command_queue, cl_mem, cl_mem, *const size_t, *const size_t, *const size_t, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueCopyImageToBuffer(cl_command_queue, cl_mem, cl_mem, *const size_t, *const size_t, size_t, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueCopyBufferToImage(cl_command_queue, cl_mem, cl_mem, size_t, *const size_t, *const size_t, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, *const cl_event,
        *mut cl_event; status) -> *mut c_void;
    fn clEnqueueMapImage(cl_command_queue, cl_mem, cl_bool, cl_map_flags, *const size_t, *const size_t, *mut size_t,
        *mut size_t, cl_uint, *const cl_event, *mut cl_event; status) -> *mut c_void;
    fn clEnqueueUnmapMemObject(cl_command_queue, cl_mem, *mut c_void, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, *const size_t, *const size_t, *const size_t,
        cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueTask(cl_command_queue, cl_kernel, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueNativeKernel(cl_command_queue, Option<extern "C" fn(*mut c_void)>, *mut c_void, size_t, cl_uint,
        *const cl_mem, *const *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueMarker(cl_command_queue, *mut cl_event) -> cl_int;
    fn clEnqueueWaitForEvents(cl_command_queue, cl_uint, *mut cl_event) -> cl_int;
    fn clEnqueueBarrier(cl_command_queue) -> cl_int;
    fn clGetExtensionFunctionAddress(*mut c_char);

    // OpenCL 1.2
    fn clCreateSubDevices(cl_device_id, *const cl_device_partition_property, cl_uint, *mut cl_device_id,
        *mut cl_uint) -> cl_int;
    fn clRetainDevice(cl_device_id) -> cl_int;
    fn clReleaseDevice(cl_device_id) -> cl_int;
    fn clCreateImage(cl_context, cl_mem_flags, *const cl_image_format, *const cl_image_desc,
        *mut c_void; status) -> cl_mem;
    fn clCreateProgramWithBuiltInKernels(cl_context, cl_uint, *const cl_device_id, *const char; status) -> cl_program;
    fn clCompileProgram(cl_program, cl_uint, *const cl_device_id, *const c_char, cl_uint, *const cl_program,
        *const *const c_char, Notify<cl_program>, *mut c_void) -> cl_int;
    fn clLinkProgram(cl_context, cl_uint, *const cl_device_id, *const c_char, cl_uint, *const cl_program,
        Notify<cl_program>, *mut c_void; status) -> cl_program;
    fn clGetProgramInfo(cl_program, cl_program_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clGetKernelArgInfo(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clEnqueueFillBuffer(cl_command_queue, cl_mem, *const c_void, size_t, size_t, size_t, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueFillImage(cl_command_queue, cl_mem, *const c_void, *const size_t, *const size_t, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueMigrateMemObjects(cl_command_queue, cl_uint, *const cl_mem, cl_mem_migration_flags, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueBarrierWithWaitList(cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    fn clGetExtensionFunctionAddressForPlatform(cl_platform_id, *const c_char) -> *mut c_void;

    // OpenCL 2.0
    fn clCreateCommandQueueWithProperties(cl_context, cl_device_id,
        *const cl_queue_properties; status) -> cl_command_queue;
    fn clCreatePipe(cl_context, cl_mem_flags, cl_uint, cl_uint, *const cl_pipe_properties; status) -> cl_mem;
    fn clGetPipeInfo(cl_mem, cl_pipe_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clSVMAlloc(cl_context, cl_svm_mem_flags, size_t, cl_uint) -> *mut c_void;
    fn clSVMFree(cl_context, *mut c_void);
    fn clCreateSamplerWithProperties(cl_context, *const cl_sampler_properties; status) -> cl_sampler;
    fn clSetKernelArgSVMPointer(cl_kernel, cl_uint, *const c_void) -> cl_int;
    fn clSetKernelExecInfo(cl_kernel, cl_kernel_exec_info, size_t, *const c_void) -> cl_int;
    fn clEnqueueSVMFree(cl_command_queue, cl_uint, *const *const c_void,
        Option<extern "C" fn(cl_command_queue, cl_uint, *const *const c_void, *mut c_void)>, *mut c_void, cl_uint,
        *const cl_event, *mut cl_event) -> cl_int;
    fn clEnqueueSVMMemcpy(cl_command_queue, cl_bool, *mut c_void, *const c_void, size_t, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueSVMMemFill(cl_command_queue, *mut c_void, *const c_void, size_t, size_t, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueSVMMap(cl_command_queue, cl_bool, cl_map_flags, *mut c_void, size_t, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueSVMUnmap(cl_command_queue, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;

    // OpenCL 2.1
    fn clSetDefaultDeviceCommandQueue(cl_context, cl_device_id, cl_command_queue) -> cl_int;
    fn clGetDeviceAndHostTimer(cl_device_id, *mut cl_ulong, *mut cl_ulong) -> cl_int;
    fn clGetHostTimer(cl_device_id, *mut cl_ulong) -> cl_int;
    fn clCreateProgramWithIL(cl_context, *const c_void, size_t; status) -> cl_program;
    fn clCloneKernel(cl_kernel; status) -> cl_kernel;
    fn clGetKernelSubGroupInfo(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, *const c_void, size_t,
        *mut c_void, *mut size_t) -> cl_int;
    fn clEnqueueSVMMigrateMem(cl_command_queue, cl_uint, *const *const c_void, *const size_t, cl_mem_migration_flags,
        cl_uint, *const cl_event, *mut cl_event) -> cl_int;

    // Sharing with OpenGL
    fn clCreateFromGLBuffer(cl_context, cl_mem_flags, cl_GLuint; status) -> cl_mem;
    fn clCreateFromGLTexture(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint; status) -> cl_mem;
    fn clGetGLObjectInfo(cl_mem, *mut cl_gl_object_type, *mut cl_GLuint) -> cl_int;
    fn clGetGLTextureInfo(cl_mem, cl_gl_texture_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    fn clCreateFromGLRenderbuffer(cl_context, cl_mem_flags, cl_GLuint; status) -> cl_mem;
    fn clEnqueueAcquireGLObjects(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clEnqueueReleaseGLObjects(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event,
        *mut cl_event) -> cl_int;
    fn clGetGLContextInfoKHR(*const cl_context_properties, cl_gl_context_info, size_t, *mut c_void,
        *mut size_t) -> cl_int;
    fn clCreateFromGLTexture2D(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint; status) -> cl_mem;
    fn clCreateFromGLTexture3D(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint; status) -> cl_mem;
}
