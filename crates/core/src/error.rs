//! One error for every backend.

/// What went wrong, with the value that was wrong and what to do about it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device or the algorithm cannot do this; another device or algorithm may.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The caller's arguments do not fit together.
    #[error("invalid: {0}")]
    Invalid(String),
    /// An operator, a predicate or an element struct is not what it must be.
    #[error("operator `{name}`: {message}")]
    Operator {
        /// The operator's, the predicate's or the element's name.
        name: String,
        /// The diagnostic, with the line of its WGSL where there is one.
        message: String,
    },
    /// A kernel did not compile.
    #[error("kernel `{kernel}` did not compile: {log}")]
    Compile {
        /// The kernel's name in the catalogue.
        kernel: String,
        /// The compiler's log.
        log: String,
    },
    /// The device has no memory left for an allocation.
    #[error("out of memory: {bytes} bytes asked of {device}; use smaller inputs, or free buffers first")]
    OutOfMemory {
        /// The bytes asked for.
        bytes: u64,
        /// The device's name.
        device: String,
    },
    /// The device went away; everything allocated on it is gone.
    #[error("device lost: {0}; open it again, and check the driver's log")]
    DeviceLost(String),
    /// A driver's or an API's own error.
    #[error("{backend}: {message}")]
    Backend {
        /// The backend: cpu, wgpu, opencl or cuda.
        backend: &'static str,
        /// What failed, and what to do where that is known.
        message: String,
        /// The API's error, where it has one. The message has its words, so it is not the error's source, which reporters would print again.
        cause: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// As it is displayed: what a `main` that returns it prints.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// `std::result::Result` with Trifold's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An API's error, with what was being done.
    pub fn backend(
        backend: &'static str,
        doing: impl std::fmt::Display,
        cause: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Error::Backend { backend, message: format!("{doing}: {cause}"), cause: Some(Box::new(cause)) }
    }

    /// A failure of a backend that has no error value of its own.
    pub fn backend_message(backend: &'static str, message: impl Into<String>) -> Self {
        Error::Backend { backend, message: message.into(), cause: None }
    }
}
