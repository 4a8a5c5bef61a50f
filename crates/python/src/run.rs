//! Running a request on a caller's arrays.

use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trifold::backend::{Language, Spans};
use trifold::cpu::Cpu;
use trifold::cuda::CurrentContext;
use trifold::plan::{Operand, Request, Slot};
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Buffer, Error, Placed, Transfer};

use crate::array::{Array, Bytes, Place};
use crate::device::{Device, Kept, exception};
use crate::dtype::long_name;
use crate::library::Library;
use crate::operators::Named;
use crate::owned::Owned;
use crate::stream::{On, Stream};

type Any<'py> = Bound<'py, PyAny>;

/// What a caller says beside the arguments: on what device and stream, and where results go.
pub struct Caller<'py> {
    py: Python<'py>,
    device: Option<Device>,
    stream: Option<Stream<'py>>,
    out: Vec<Any<'py>>,
    /// Whether an operator or a predicate is text.
    has_text: bool,
}

/// What a request's outputs are like.
#[derive(Default, Clone, Copy)]
pub struct Form<'a> {
    /// The shape of those of as many elements; others have one dimension.
    pub shape: Option<&'a [usize]>,
    /// Those that are places or counts.
    pub places: &'a [Slot],
}

impl<'a> Form<'a> {
    pub fn of(shape: &'a [usize]) -> Form<'a> {
        Form { shape: Some(shape), places: &[] }
    }

    pub fn with_places(self, places: &'a [Slot]) -> Form<'a> {
        Form { places, ..self }
    }

    /// One number, without dimensions.
    pub fn number() -> Form<'a> {
        Form::of(&[])
    }
}

impl<'py> Caller<'py> {
    pub fn new(
        py: Python<'py>,
        device: Option<Device>,
        stream: Option<&Any<'py>>,
        out: Option<&Any<'py>>,
    ) -> PyResult<Caller<'py>> {
        let out = match out {
            None => vec![],
            Some(out) => match out.cast::<PyTuple>() {
                Ok(several) => several.iter().collect(),
                Err(_) => vec![out.clone()],
            },
        };
        let stream = stream.map(Stream::of).transpose()?;
        Ok(Caller { py, device, stream, out, has_text: false })
    }

    /// By this operator.
    pub fn by(self, op: &Named<'_>) -> Self {
        self.by_text(op.is_text())
    }

    /// With what is brought for results in the other order than the request has them.
    pub fn out_reversed(mut self) -> Self {
        self.out.reverse();
        self
    }

    /// By text, if it is some.
    pub fn by_text(self, has_text: bool) -> Self {
        Caller { has_text: self.has_text || has_text, ..self }
    }

    /// An argument.
    pub fn array(&self, any: &Any<'py>, name: &str) -> PyResult<Array<'py>> {
        let array = Array::of(any, name, self.stream.as_ref())?;
        if array.shape.is_empty() {
            return Err(PyValueError::new_err(format!("{name}: it has no dimensions; pass an array of one element")));
        }
        Ok(array)
    }

    /// An argument, its elements converted to a type if one is said.
    pub fn array_as(&self, any: &Any<'py>, name: &str, dtype: Option<&Any<'py>>) -> PyResult<Array<'py>> {
        let Some(dtype) = dtype else { return self.array(any, name) };
        let any = match any.hasattr("dtype")? {
            true => any.clone(),
            false => self.py.import("numpy")?.call_method1("asarray", (any,))?,
        };
        if any.is_instance_of::<Owned>() {
            return Err(PyTypeError::new_err(format!(
                "dtype: {name} is in a device's memory; convert it before Device.asarray copies it there"
            )));
        }
        self.array(&Library::of(&any)?.converted(&any, dtype)?, name)
    }

    /// The device of a call on these arrays, and the library that its results are of.
    fn place_of(&self, given: &[(Slot, &Array<'py>)]) -> PyResult<(Device, Library<'py>)> {
        let on = given.iter().filter_map(|(_, array)| match &array.place {
            Place::Device(device, _) => Some((device, array)),
            Place::Host(_) => None,
        });
        let mut on = on.peekable();
        let Some(&(device, array)) = on.peek() else {
            if self.stream.is_some() {
                return Err(PyValueError::new_err("stream: no argument is in CUDA's memory; leave it out"));
            }
            let device = match &self.device {
                Some(device) => device.clone(),
                None => Device::best(self.py)?,
            };
            return Ok((device, Library::NumPy(self.py)));
        };
        let others = on.map(|(other, _)| other).chain(&self.device);
        if let Some(other) = others.into_iter().find(|other| !other.is(device)) {
            return Err(PyValueError::new_err(format!(
                "arguments on {:?} and {:?}, or on two streams of it; bring them to one device and stream, and leave `device` out for \
                 arrays of other libraries. Each Device(...) is opened anew: keep one, and use it for all",
                device.device, other.device
            )));
        }
        Ok((device.clone(), array.library.clone()))
    }

    /// Runs a request on these arrays, and gives what it writes. Outputs whose number is counted are cut to it.
    pub fn run(
        self,
        request: impl Into<Request>,
        given: &[(Slot, &Array<'py>)],
        form: Form<'_>,
    ) -> PyResult<Results<'py>> {
        let request: Request = request.into();
        let (device, library) = self.place_of(given)?;
        device.check_process()?;
        if self.has_text && device.device.caps().language == Language::Host {
            return Err(PyNotImplementedError::new_err(
                "WGSL text runs on GPUs, and this call is on the CPU; name one of the operators, or pass flags",
            ));
        }
        let cuda = device.cuda().ok();
        let _context = cuda.map(|_| CurrentContext::kept());
        device.let_go();
        let outputs = self.outputs(&request, &device, &library, form)?;
        if let (Some(cuda), Some(_)) = (cuda, &self.stream) {
            // Making the outputs may have been work too.
            let current = library.current_stream(cuda.stream().context().ordinal())?;
            current.map_or(Ok(()), |current| On(cuda).wait_for(current.handle))?;
        }
        let mut all = given.iter().map(|(_, array)| *array).chain(outputs.iter().map(|(_, array)| array));
        let waits = request.counts() || all.any(|array| matches!(array.place, Place::Host(_)));
        if waits {
            device.check_waits()?;
        }
        let enqueued = Enqueued {
            inputs: given.iter().map(|(slot, array)| (*slot, array.place.clone())).collect(),
            outputs: outputs.iter().map(|(slot, array)| (*slot, array.place.clone())).collect(),
        };
        let ran = self.py.detach(|| enqueued.run(&device.device, request)).map_err(exception);
        // Also what a call has that failed: some of it may be enqueued.
        let kept = self.keep(&device, given, &outputs);
        let count = ran?;
        kept?;
        Ok(Results { library, outputs, count })
    }

    /// Where the outputs go: what the caller brings, or new arrays.
    fn outputs(
        &self,
        request: &Request,
        device: &Device,
        library: &Library<'py>,
        form: Form<'_>,
    ) -> PyResult<Vec<(Slot, Array<'py>)>> {
        let operands = request.operands();
        let is_output = |operand: &&Operand| !is_input(operand.slot) && operand.slot != Slot::Count;
        let outputs: Vec<_> = operands.iter().filter(is_output).collect();
        if !self.out.is_empty() && self.out.len() != outputs.len() {
            return Err(PyValueError::new_err(format!(
                "out: {} arrays, and the call has {} results; bring one of each, as a tuple",
                self.out.len(),
                outputs.len()
            )));
        }
        library.check_places(form.places, request.n())?;
        let mut brought = self.out.iter();
        let mut made = vec![];
        for operand in outputs {
            let n = operand.len as usize;
            let own = form.shape.filter(|shape| shape.iter().product::<usize>() == n);
            let shape = own.map_or_else(|| vec![n], <[usize]>::to_vec);
            let scalar = if form.places.contains(&operand.slot) { library.places() } else { scalar_of(operand)? };
            let array = match brought.next() {
                Some(out) => self.brought(out, device, scalar, &shape)?,
                None => library.empty(device, scalar, shape)?,
            };
            made.push((operand.slot, array));
        }
        let hosts: Vec<Bytes> = made.iter().filter_map(|(_, array)| array.place.host()).collect();
        if !Bytes::are_apart(&hosts) {
            return Err(PyValueError::new_err("out: two of the arrays share memory; bring one for each result"));
        }
        Ok(made)
    }

    /// What a caller brings for results, if it is as they are.
    fn brought(&self, out: &Any<'py>, device: &Device, scalar: Scalar, shape: &[usize]) -> PyResult<Array<'py>> {
        let array = Array::of(out, "out", self.stream.as_ref())?;
        // Those libraries take for granted that nobody writes to their arrays.
        if array.is_read_only || matches!(array.library, Library::Other(_)) {
            return Err(PyValueError::new_err(
                "out: it is read-only, or a copy was made of it; pass one that may be written, and for several results a tuple of such",
            ));
        }
        if array.is_bool {
            return Err(PyTypeError::new_err(
                "out: its elements are bool; flags count as uint8, so pass an array of that",
            ));
        }
        if let Place::Device(own, _) = &array.place
            && !own.is(device)
        {
            return Err(PyValueError::new_err(format!(
                "out: it is on {:?}, and the call on {:?}, or on another stream of it; bring one that is there",
                own.device, device.device
            )));
        }
        if array.scalar == scalar && array.shape == shape {
            return Ok(array);
        }
        Err(PyValueError::new_err(format!(
            "out: elements of {} in the shape {shape:?} are wanted, and it has {} in the shape {:?}",
            long_name(scalar),
            long_name(array.scalar),
            array.shape
        )))
    }

    /// Keeps what libraries would free in the order of other streams than this work's.
    fn keep(&self, device: &Device, given: &[(Slot, &Array<'py>)], outputs: &[(Slot, Array<'py>)]) -> PyResult<()> {
        let all = given.iter().map(|(_, array)| *array).chain(outputs.iter().map(|(_, array)| array));
        let kept: Vec<_> = all.filter_map(|array| self.kept_of(array)).collect();
        // What a graph uses is its owner's to keep.
        if kept.is_empty() || device.device.is_captured() {
            return Ok(());
        }
        device.keep(kept)
    }

    fn kept_of(&self, array: &Array<'py>) -> Option<Kept> {
        let Place::Device(_, buffer) = &array.place else { return None };
        let is_ordered = match array.library {
            Library::Torch(..) | Library::CuPy(_) => self.stream.is_none(),
            _ => array.any.is_instance_of::<Owned>(),
        };
        (!is_ordered).then(|| (array.any.clone().unbind(), buffer.clone()))
    }
}

/// What a call works on, without Python.
struct Enqueued {
    inputs: Vec<(Slot, Place)>,
    outputs: Vec<(Slot, Place)>,
}

impl Enqueued {
    /// Runs the request. Waits for what is counted and for what goes to the program's memory, and for nothing else.
    fn run(self, device: &trifold::Device, request: Request) -> trifold::Result<Option<usize>> {
        let mut memory: Vec<(Slot, Buffer<u8>)> = vec![];
        let cpu = device.downcast_ref::<Cpu>().filter(|_| self.is_apart());
        for (slot, input) in &self.inputs {
            let buffer = match input {
                Place::Device(_, buffer) => buffer.clone(),
                Place::Host(bytes) => match in_place(device, cpu, *bytes)? {
                    Some(buffer) => buffer,
                    // SAFETY: the caller's arguments keep the array. The module's documentation forbids writes meanwhile.
                    None => device.upload(unsafe { bytes.get() })?,
                },
            };
            memory.push((*slot, buffer));
        }
        // What is to be copied back.
        let mut copied = vec![];
        for (slot, output) in self.outputs {
            let buffer = match output {
                Place::Device(_, buffer) => buffer,
                Place::Host(bytes) => match in_place(device, cpu, bytes)? {
                    Some(buffer) => buffer,
                    None => {
                        let buffer = device.alloc(bytes.len)?;
                        copied.push((slot, bytes, buffer.clone()));
                        buffer
                    }
                },
            };
            memory.push((slot, buffer));
        }
        let counted = request.counts().then(|| device.alloc::<u8>(size_of::<u32>())).transpose()?;
        memory.extend(counted.clone().map(|counted| (Slot::Count, counted)));
        let n = request.n() as usize;
        let spans = Spans::of(&request, |operand| match memory.iter().find(|(slot, _)| *slot == operand.slot) {
            Some((_, buffer)) => Ok(buffer.span().clone()),
            None => Err(Error::Invalid(format!("{:?} is missing", operand.slot))),
        })?;
        Placed::of_request(device.clone(), request, spans).run()?;
        let count = match counted {
            Some(counted) => Some(counted.cast::<u32>()?.read()?[0] as usize),
            None => None,
        };
        for (slot, bytes, buffer) in copied {
            // Of what is counted there may be less than there is room for.
            let written = counted_in(slot, n, count).map_or(bytes.len, |written| bytes.len / n.max(1) * written);
            // SAFETY: the array is new, or the caller's to be written, and is kept behind this.
            let to = unsafe { bytes.get_mut() };
            to[..written].copy_from_slice(&buffer.slice(..written)?.read()?);
        }
        Ok(count)
    }

    /// Whether no two of its arrays in the program's memory share bytes.
    fn is_apart(&self) -> bool {
        let all = self.inputs.iter().chain(&self.outputs);
        Bytes::are_apart(&all.filter_map(|(_, place)| place.host()).collect::<Vec<_>>())
    }
}

/// An array's own memory, where the processor runs the call and can take it as it is.
fn in_place(device: &trifold::Device, cpu: Option<&Cpu>, bytes: Bytes) -> trifold::Result<Option<Buffer<u8>>> {
    let Some(cpu) = cpu else { return Ok(None) };
    // SAFETY: the arrays are kept until the call is done, when it is through with the buffer: the processor runs calls at once. The module's
    // documentation forbids other uses meanwhile, and no two arrays of the call share bytes.
    match unsafe { cpu.import_raw(bytes.start(), bytes.len, ()) } {
        Ok(buffer) => device.import(&buffer).map(Some),
        // It is not aligned.
        Err(_) => Ok(None),
    }
}

/// What a call gives.
pub struct Results<'py> {
    library: Library<'py>,
    outputs: Vec<(Slot, Array<'py>)>,
    count: Option<usize>,
}

impl<'py> Results<'py> {
    /// The result of a slot, as its library has it.
    pub fn take(&self, slot: Slot) -> PyResult<Any<'py>> {
        let array = self.of(slot)?;
        self.library.finished(array, counted_in(slot, array.len(), self.count))
    }

    fn of(&self, slot: Slot) -> PyResult<&Array<'py>> {
        let found = self.outputs.iter().find(|(own, _)| *own == slot);
        found.map(|(_, array)| array).ok_or_else(|| PyRuntimeError::new_err(format!("the call gives no {slot:?}")))
    }

    /// The output and another result.
    pub fn with(&self, py: Python<'py>, other: Slot) -> PyResult<Any<'py>> {
        Ok((self.take(Slot::Output)?, self.take(other)?).into_pyobject(py)?.into_any())
    }
}

/// How many of an output's `n` elements are written, where that was counted.
fn counted_in(slot: Slot, n: usize, count: Option<usize>) -> Option<usize> {
    count.map(|kept| if slot == Slot::Rest { n - kept } else { kept })
}

pub fn is_input(slot: Slot) -> bool {
    matches!(slot, Slot::Input | Slot::InputValues | Slot::Offsets | Slot::Length | Slot::Leaf(_))
}

pub fn scalar_of(operand: &Operand) -> PyResult<Scalar> {
    match &operand.element {
        ElementType::Scalar(scalar) => Ok(*scalar),
        other => Err(PyValueError::new_err(format!("NumPy has no {}", other.name()))),
    }
}
