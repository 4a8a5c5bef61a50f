//! A launch, thread by thread.
//!
//! Some blocks are resident at a time, in random order, and take turns. A block that polls memory lets the others go
//! on, so it may wait for another one.
//!
//! Within a block threads run one after the other, forwards or backwards at random, each up to its next rendezvous. A
//! kernel that lacks a barrier which it relies on gives wrong results.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use trifold_core::{Error, Result};

use crate::compile::Program;

const WARP: usize = 32;
/// How many blocks of a launch run side by side.
const RESIDENT: usize = 16;
/// A thread's stack: kernels keep a tile's registers on it.
const STACK: usize = 256 << 10;
/// So many turns of all resident blocks in which none ends, and a launch counts as one that never does.
const MOST_TURNS: u64 = 1 << 18;
/// What a block finds in its shared memory.
const POISON: u8 = 0xc3;

/// A number in one dimension, as `threadIdx` and its like have it: a kernel reads it while it changes from turn to turn.
#[repr(C)]
struct Index {
    x: Cell<u32>,
}

impl Index {
    fn new(x: u32) -> Index {
        Index { x: Cell::new(x) }
    }
}

/// What a kernel sees of its thread: `Emulation` of `cuda.hpp`.
#[repr(C)]
pub(crate) struct Scheduler {
    thread: Index,
    block: Index,
    threads: Index,
    blocks: Index,
    pause: extern "C" fn(u32, u32, u32),
    exchange: extern "C" fn(u32, u32) -> *const u32,
}

/// Why a thread's turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Pause {
    /// It has read memory that another block may write.
    Poll,
    /// It waits for all threads of its block.
    Block,
    /// It waits for so many threads at a barrier of a number.
    Barrier { id: u32, threads: u32 },
    /// It waits for its warp, with a word for an operation.
    Warp { word: u32, operation: u32 },
}

thread_local! {
    /// The yielder of the thread whose turn it is.
    static YIELDER: Cell<*const Yielder<*const u32, Pause>> = const { Cell::new(std::ptr::null()) };
}

fn end_turn(pause: Pause) -> *const u32 {
    let yielder = YIELDER.get();
    // SAFETY: a kernel runs within a coroutine, whose closure set its own yielder here, as did this function after each turn before.
    let words = unsafe { (*yielder).suspend(pause) };
    YIELDER.set(yielder);
    words
}

extern "C" fn pause(why: u32, id: u32, threads: u32) {
    end_turn(match why {
        0 => Pause::Poll,
        1 => Pause::Block,
        _ => Pause::Barrier { id, threads },
    });
}

extern "C" fn exchange(word: u32, operation: u32) -> *const u32 {
    end_turn(Pause::Warp { word, operation })
}

/// A launch's arguments, which its threads share.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    pub(crate) program: &'a Program,
    pub(crate) addresses: &'a [*mut u8],
    pub(crate) params: &'a [u8],
}

type Fiber = Coroutine<*const u32, Pause, (), DefaultStack>;

/// What a thread does next.
enum State {
    /// Goes on, with what its warp brought if that is why it waited.
    Ready,
    Waits(Pause),
    Done,
}

struct Thread {
    fiber: Fiber,
    state: State,
    /// Whether it has polled in this turn of its block.
    polled: bool,
}

struct Block {
    index: u32,
    threads: Vec<Thread>,
    /// Each warp's words, of the rendezvous in hand and of the one before, which lanes may still read.
    words: Vec<[[u32; WARP]; 2]>,
    /// Which of the two is in hand, by warp.
    hand: Vec<usize>,
    shared: Vec<u8>,
}

/// Stacks that no thread has at present.
#[derive(Default)]
pub(crate) struct Stacks(Vec<DefaultStack>);

impl Stacks {
    fn take(&mut self) -> Result<DefaultStack> {
        match self.0.pop() {
            Some(stack) => Ok(stack),
            None => DefaultStack::new(STACK).map_err(|error| Error::backend("cuda", "making a thread's stack", error)),
        }
    }
}

/// Numbers by chance, the same in each run of a program.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn flip(&mut self) -> bool {
        self.next() & 1 == 1
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Runs a launch to its end.
///
/// # Errors
/// [`Error::Backend`] if threads wait for each other in vain.
///
/// # Safety
/// As [`Program::call`], for all threads.
pub(crate) unsafe fn launch(
    arguments: Arguments<'_>,
    blocks: u32,
    threads: u32,
    stacks: &mut Stacks,
    seed: u64,
) -> Result<()> {
    let mut chance = Chance(seed | 1);
    // In an order by chance, of a window of blocks each: of all, tiles that wait for others would all wait for the last.
    let mut order: Vec<u32> = (0..blocks).rev().collect();
    let mut resident: Vec<Block> = vec![];
    let scheduler = Scheduler {
        thread: Index::new(0),
        block: Index::new(0),
        threads: Index::new(threads),
        blocks: Index::new(blocks),
        pause,
        exchange,
    };
    // SAFETY: the program's own variable, which it reads while this function runs alone.
    unsafe { *arguments.program.emulation = &raw const scheduler };
    let mut turns = 0;
    let mut result = Ok(());
    while result.is_ok() && !(order.is_empty() && resident.is_empty()) {
        while resident.len() < RESIDENT && !order.is_empty() {
            let window = order.len().min(RESIDENT);
            let taken = order.len() - 1 - chance.below(window);
            match Block::start(order.remove(taken), threads as usize, arguments, stacks) {
                Ok(block) => resident.push(block),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let mut moved = false;
        for block in &mut resident {
            moved |= block.take_turn(&scheduler, arguments.program, &mut chance);
        }
        turns += 1;
        if result.is_ok() && (!moved || turns == MOST_TURNS) {
            result = Err(stuck(&resident));
        }
        resident.retain_mut(|block| {
            let ends = result.is_err() || block.is_done();
            if ends {
                block.end(stacks);
                turns = 0;
            }
            !ends
        });
    }
    result
}

fn stuck(resident: &[Block]) -> Error {
    let blocks = resident.iter().map(|block| format!("block {}: {}", block.index, block.waits()));
    let what = blocks.collect::<Vec<_>>().join("; ");
    Error::backend_message("cuda", format!("threads of a launch wait in vain; {what}"))
}

impl Block {
    fn start(index: u32, threads: usize, arguments: Arguments<'_>, stacks: &mut Stacks) -> Result<Block> {
        let mut all = Vec::with_capacity(threads);
        for _ in 0..threads {
            all.push(Thread { fiber: fiber(arguments, stacks.take()?), state: State::Ready, polled: false });
        }
        let warps = threads.div_ceil(WARP);
        let shared = vec![POISON; arguments.program.shared_bytes];
        Ok(Block { index, threads: all, words: vec![[[0; WARP]; 2]; warps], hand: vec![0; warps], shared })
    }

    /// Lets the threads go on until each waits, has polled or has ended. Whether one did.
    fn take_turn(&mut self, scheduler: &Scheduler, program: &Program, chance: &mut Chance) -> bool {
        self.swap_shared(program);
        scheduler.block.x.set(self.index);
        let mut moved = false;
        loop {
            let backwards = chance.flip();
            let warps = self.words.len();
            for i in 0..warps {
                let warp = if backwards { warps - 1 - i } else { i };
                while self.run_warp(warp, scheduler, chance) {
                    moved = true;
                    if !self.meet_in_warp(warp) {
                        break;
                    }
                }
            }
            if !self.meet_at_barriers() {
                break;
            }
        }
        self.threads.iter_mut().for_each(|thread| thread.polled = false);
        self.swap_shared(program);
        moved
    }

    /// A turn of each of a warp's threads that can go on. Whether one did.
    fn run_warp(&mut self, warp: usize, scheduler: &Scheduler, chance: &mut Chance) -> bool {
        let words = self.words[warp][1 - self.hand[warp]].as_ptr();
        let first = warp * WARP;
        let lanes = WARP.min(self.threads.len() - first);
        let backwards = chance.flip();
        let mut ran = false;
        for i in 0..lanes {
            let index = first + if backwards { lanes - 1 - i } else { i };
            let thread = &mut self.threads[index];
            if thread.polled || !matches!(thread.state, State::Ready) {
                continue;
            }
            ran = true;
            scheduler.thread.x.set(index as u32);
            thread.state = match thread.fiber.resume(words) {
                CoroutineResult::Yield(Pause::Poll) => {
                    thread.polled = true;
                    State::Ready
                }
                CoroutineResult::Yield(pause) => State::Waits(pause),
                CoroutineResult::Return(()) => State::Done,
            };
        }
        ran
    }

    /// Lets a warp's lanes go on if all have met at one operation, each with the words of all. Whether they have.
    fn meet_in_warp(&mut self, warp: usize) -> bool {
        let first = warp * WARP;
        let lanes = &mut self.threads[first..];
        let lanes = match lanes.len() {
            0..WARP => return false,
            _ => &mut lanes[..WARP],
        };
        let State::Waits(Pause::Warp { operation, .. }) = lanes[0].state else { return false };
        let words = &mut self.words[warp][self.hand[warp]];
        for (lane, slot) in lanes.iter().zip(words) {
            match lane.state {
                State::Waits(Pause::Warp { word, operation: other }) if other == operation => *slot = word,
                _ => return false,
            }
        }
        self.hand[warp] = 1 - self.hand[warp];
        lanes.iter_mut().for_each(|lane| lane.state = State::Ready);
        true
    }

    /// Lets those go on that have met at a barrier. Whether any did.
    fn meet_at_barriers(&mut self) -> bool {
        let mut waiting = HashMap::<Pause, usize>::new();
        for barrier in self.threads.iter().filter_map(Thread::barrier) {
            *waiting.entry(barrier).or_default() += 1;
        }
        let all = self.threads.len();
        waiting.retain(|barrier, count| match barrier {
            Pause::Barrier { threads, .. } => *count == *threads as usize,
            _ => *count == all,
        });
        for barrier in waiting.keys() {
            let of_it = self.threads.iter_mut().filter(|thread| thread.barrier() == Some(*barrier));
            of_it.for_each(|thread| thread.state = State::Ready);
        }
        !waiting.is_empty()
    }

    /// Brings the block's shared memory to where its kernel has it, or takes it back.
    fn swap_shared(&mut self, program: &Program) {
        // SAFETY: the section has as many bytes as `shared`, which is memory of its own, and only this thread touches it.
        unsafe { std::ptr::swap_nonoverlapping(program.shared, self.shared.as_mut_ptr(), self.shared.len()) }
    }

    fn is_done(&self) -> bool {
        self.threads.iter().all(|thread| matches!(thread.state, State::Done))
    }

    /// Where the threads are, for an error.
    fn waits(&self) -> String {
        let mut places = BTreeMap::<String, usize>::new();
        for thread in &self.threads {
            let place = match thread.state {
                State::Ready => "polling".into(),
                State::Waits(Pause::Warp { operation, .. }) => format!("at operation {operation} of a warp"),
                State::Waits(pause) => format!("at {pause:?}"),
                State::Done => "done".into(),
            };
            *places.entry(place).or_default() += 1;
        }
        places.into_iter().map(|(place, count)| format!("{count} {place}")).collect::<Vec<_>>().join(", ")
    }

    /// Gives the stacks back.
    fn end(&mut self, stacks: &mut Stacks) {
        for mut thread in self.threads.drain(..) {
            if !thread.fiber.done() {
                // SAFETY: the kernel's frames own nothing: they are C++ without destructors, above a closure of plain pointers.
                unsafe { thread.fiber.force_reset() };
            }
            stacks.0.push(thread.fiber.into_stack());
        }
    }
}

impl Thread {
    /// The barrier that it waits at, if it does.
    fn barrier(&self) -> Option<Pause> {
        match self.state {
            State::Waits(pause @ (Pause::Block | Pause::Barrier { .. })) => Some(pause),
            _ => None,
        }
    }
}

/// A thread that has not begun.
fn fiber(arguments: Arguments<'_>, stack: DefaultStack) -> Fiber {
    // A coroutine may outlive what it borrows, as far as its type knows: pointers say that these do not.
    let program: *const Program = arguments.program;
    let (addresses, params) = (std::ptr::from_ref(arguments.addresses), std::ptr::from_ref(arguments.params));
    Coroutine::with_stack(stack, move |yielder, _| {
        YIELDER.set(yielder);
        // SAFETY: `launch` ends every thread before it returns, and its caller lends program, addresses and params as long; that they
        // are the kernel's is its caller's promise.
        unsafe { (*program).call(&*addresses, &*params) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::clang;

    /// Launches a kernel of 64 threads a block, which takes an array of zeros; what it left there. `None` without clang.
    fn run(body: &str, blocks: u32, seed: u64) -> Option<Result<Vec<u32>>> {
        let clang = clang().inspect_err(|error| trifold_conformance::skip("clang", error)).ok()?;
        let text = format!(
            "typedef unsigned int u32;\nstruct Params {{ u32 all[4]; }};\n__shared__ u32 shared[64];\n\
             extern \"C\" __global__ void kernel(u32 *words, Params) {{\n  const u32 thread = threadIdx.x;\n{body}\n}}\n"
        );
        let program = Program::compile(&clang, &text, "kernel", (1, 16)).unwrap();
        let mut words = vec![0u32; 1024];
        let arguments = Arguments { program: &program, addresses: &[words.as_mut_ptr().cast()], params: &[0; 16] };
        // SAFETY: the kernels below stay within the words, of which there are as many as threads at the least.
        let launched = unsafe { launch(arguments, blocks, 64, &mut Stacks::default(), seed) };
        Some(launched.map(|()| words))
    }

    #[test]
    fn threads_meet_at_barriers_and_lanes_at_shuffles() {
        let body = "shared[thread] = thread;\n__syncthreads();\n\
                    words[blockIdx.x * 64u + thread] = __shfl_up_sync(0xffffffffu, shared[63u - thread], 1u);";
        let expected = |i: u32| if i.is_multiple_of(32) { 63 - i } else { 64 - i };
        for seed in 0..4 {
            let Some(words) = run(body, 16, seed) else { return };
            assert!(words.unwrap().iter().zip(0..).all(|(word, i)| *word == expected(i % 64)));
        }
    }

    #[test]
    fn a_barrier_that_is_not_there_shows() {
        let body = "shared[thread] = thread;\nwords[thread] = shared[(thread + 1u) % 64u];";
        for seed in 0..8 {
            let Some(words) = run(body, 1, seed) else { return };
            assert!(!words.unwrap()[..64].iter().zip(0..64).all(|(word, i)| *word == (i + 1) % 64));
        }
    }

    #[test]
    fn blocks_wait_for_each_other() {
        let wait = "u32 found = 0u;\nwhile (found == 0u) { \
                    asm volatile(\"ld.relaxed.gpu.global.u32 %0, [%1];\" : \"=r\"(found) : \"l\"(&words[64u * (1u - blockIdx.x)]) : \"memory\"); }";
        let Some(words) = run(&format!("if (thread == 0u) {{ words[64u * blockIdx.x] = 1u; }}\n{wait}"), 2, 1) else {
            return;
        };
        assert_eq!((words.as_ref().unwrap()[0], words.as_ref().unwrap()[64]), (1, 1));
    }

    #[test]
    fn threads_that_never_meet_are_an_error() {
        let body = "if (thread % 2u == 0u) { __syncthreads(); } else { __syncwarp(); }";
        let Some(result) = run(body, 1, 1) else { return };
        let error = result.unwrap_err().to_string();
        assert!(error.contains("32 at Block") && error.contains("32 at operation 5 of a warp"), "{error}");
    }
}
