//! The CPU backend beside what a program would have without it: a loop on one thread, and the crates that sort.
//!
//! `cargo run --release -p trifold-cpu --example beside_loops -- [part of a row's name] [log2 n]...`
//!
//! Each row is a call, prepared once, and its alternatives. They take turns, so that whatever else the machine does meets
//! all of them. A figure is the median, in 10^9 elements a second. The ratio is to the best alternative.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hint::black_box;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};
use trifold_core::{
    Buffer, Call, CopyRequest, Element, EvenBins, Histogram, Map, Options, Reduce, ReduceByKey, Request, Result, Scan,
    Select, Sort, Spans, Sum, TopK, Transfer, Unique, UpperHalf,
};
use trifold_cpu::Cpu;
use voracious_radix_sort::RadixSort as _;

/// Each row takes turns for at least so long.
const LONG: Duration = Duration::from_millis(700);
const FEWEST_TURNS: usize = 9;

fn main() -> Result<()> {
    let (numbers, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.parse::<u32>().is_ok());
    let part = names.into_iter().next().unwrap_or_default();
    let mut logs: Vec<u32> =
        numbers.iter().filter_map(|log| log.parse().ok()).filter(|log| (4..=28).contains(log)).collect();
    if logs.is_empty() {
        logs = vec![16, 20, 22, 24];
    }
    println!("{:28} {:>5} {:>8} {:>8} {:>6}  best alternative", "", "n", "trifold", "best", "ratio");
    for log in logs {
        let rows = Rows { cpu: Cpu::new()?, part: part.clone(), log, words: words(1 << log) };
        rows.scans()?;
        rows.selections()?;
        rows.runs("of 8", |i, _| i.is_multiple_of(8))?;
        rows.runs("of 5, drawn", |_, word| word.is_multiple_of(5))?;
        rows.keys()?;
        rows.pairs()?;
        rows.largest()?;
        rows.segments("of 16", 16)?;
        rows.segments("of 4096", 4096)?;
        rows.firsts()?;
        rows.bins()?;
    }
    Ok(())
}

fn words(n: usize) -> Vec<u32> {
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    let next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 16) as u32
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// What else does a row's work, and its name.
type Other<'a> = (&'static str, &'a mut dyn FnMut());

struct Rows {
    cpu: Cpu,
    /// Rows are measured whose name has this.
    part: String,
    log: u32,
    words: Vec<u32>,
}

impl Rows {
    fn n(&self) -> usize {
        self.words.len()
    }

    /// Times a call and its alternatives by turns, and prints the row.
    fn row(&self, name: &str, call: &Call<Cpu>, others: &mut [Other<'_>]) -> Result<()> {
        if !name.contains(&self.part) {
            return Ok(());
        }
        let mut times = vec![vec![]; others.len() + 1];
        let start = Instant::now();
        while times[0].len() < FEWEST_TURNS || start.elapsed() < LONG {
            let turn = Instant::now();
            call.run()?;
            times[0].push(turn.elapsed().as_secs_f64());
            for ((_, other), times) in others.iter_mut().zip(&mut times[1..]) {
                let turn = Instant::now();
                other();
                times.push(turn.elapsed().as_secs_f64());
            }
        }
        let rate = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            self.n() as f64 / times[times.len() / 2] * 1e-9
        };
        let rates: Vec<f64> = times.iter_mut().map(rate).collect();
        let others = others.iter().map(|(name, _)| *name).zip(rates[1..].iter().copied());
        let (best, most) = others.max_by(|a, b| a.1.total_cmp(&b.1)).expect("a row has an alternative");
        println!("{name:28}  2^{} {:8.3} {most:8.3} {:6.2}  {best}", self.log, rates[0], rates[0] / most);
        Ok(())
    }

    fn alloc<T: Element>(&self) -> Result<Buffer<T, Cpu>> {
        self.cpu.alloc(self.n())
    }

    fn scans(&self) -> Result<()> {
        let (n, words) = (self.n(), &self.words[..]);
        let (x, y, one) = (self.cpu.upload(words)?, self.alloc::<u32>()?, self.cpu.alloc(1)?);
        let mut out = vec![0u32; n];
        let copy = Request::Copy(CopyRequest { element: u32::TYPE, n: n as u64 });
        let copy = Call::new(&self.cpu, &copy, &Spans::new(x.span(), y.span()), Options::default())?;
        self.row("copy u32", &copy, &mut [("copy_from_slice", &mut || black_box(&mut out).copy_from_slice(words))])?;
        let call = self.cpu.inclusive_scan(&x, Sum).to(&y).prepare()?;
        self.row("scan u32", &call, &mut [("loop", &mut || scan(words, black_box(&mut out)))])?;
        agree(&y, &out)?;
        let call = self.cpu.exclusive_scan(&x, Sum).to(&y).prepare()?;
        self.row("exclusive scan u32", &call, &mut [("loop", &mut || exclusive_scan(words, black_box(&mut out)))])?;
        agree(&y, &out)?;
        let call = self.cpu.reduce(&x, Sum).to(&one).prepare()?;
        let mut total = || _ = black_box(words.iter().fold(0u32, |a, &b| a.wrapping_add(b)));
        self.row("reduce u32", &call, &mut [("loop", &mut total)])?;

        let floats: Vec<f32> = words.iter().map(|&w| w as f32).collect();
        let (x, y, mut out) = (self.cpu.upload(&floats)?, self.alloc::<f32>()?, vec![0f32; n]);
        let call = self.cpu.inclusive_scan(&x, Sum).to(&y).prepare()?;
        let mut plain = || {
            let mut total = 0.0;
            for (y, &x) in black_box(&mut out).iter_mut().zip(&floats) {
                total += x;
                *y = total;
            }
        };
        self.row("scan f32", &call, &mut [("loop", &mut plain)])
    }

    fn selections(&self) -> Result<()> {
        let (n, words) = (self.n(), &self.words[..]);
        let (x, y, z, count) = (self.cpu.upload(words)?, self.alloc()?, self.alloc()?, self.cpu.alloc(1)?);
        let (mut kept, mut rest) = (vec![0u32; n + 1], vec![0u32; n + 1]);
        let call = self.cpu.select(&x, UpperHalf).count_to(&count).to(&y).prepare()?;
        let mut compact = || _ = black_box(compact(words, black_box(&mut kept)));
        // No filter is nearly as fast, and the threads of rayon's would stay awake for the next turn.
        let others: &mut [Other<'_>] = &mut [("loop without branches", &mut compact)];
        self.row("select u32, half", &call, others)?;
        let mut apart = || _ = black_box(split(words, black_box(&mut kept), black_box(&mut rest)));
        let call = self.cpu.partition(&x, UpperHalf).count_to(&count).to((&y, &z)).prepare()?;
        self.row("partition u32, half", &call, &mut [("loop without branches", &mut apart)])?;
        let mut behind = || {
            let n = split(words, &mut kept, &mut rest);
            kept[n..words.len()].copy_from_slice(&rest[..words.len() - n]);
            black_box(&mut kept);
        };
        let call = self.cpu.partition(&x, UpperHalf).count_to(&count).to_one(&y).prepare()?;
        self.row("partition u32 to one", &call, &mut [("loop without branches", &mut behind)])
    }

    fn runs(&self, of: &str, begins: impl Fn(usize, u32) -> bool) -> Result<()> {
        let (n, words) = (self.n(), &self.words[..]);
        let mut key = 0;
        let keys = words.iter().enumerate().map(|(i, &word)| {
            key += u32::from(begins(i, word));
            key
        });
        let keys: Vec<u32> = keys.collect();
        let (x, v, count) = (self.cpu.upload(&keys)?, self.cpu.upload(words)?, self.cpu.alloc(1)?);
        let (y, z) = (self.alloc::<u32>()?, self.alloc::<u32>()?);
        let (mut found, mut totals) = (vec![0u32; n], vec![0u32; n]);
        let call = self.cpu.reduce_by_key(&x, &v, Sum).count_to(&count).to((&y, &z)).prepare()?;
        let mut plain = || _ = black_box(reduce_by_key(&keys, words, black_box(&mut found), black_box(&mut totals)));
        self.row(&format!("reduce by key, runs {of}"), &call, &mut [("loop", &mut plain)])?;
        let call = self.cpu.run_length_encode(&x).count_to(&count).to((&y, &z)).prepare()?;
        let mut plain = || _ = black_box(run_lengths(&keys, black_box(&mut found), black_box(&mut totals)));
        self.row(&format!("run lengths, runs {of}"), &call, &mut [("loop", &mut plain)])?;
        let call = self.cpu.inclusive_scan_by_key(&x, &v, Sum).to(&z).prepare()?;
        let mut plain = || scan_by_key(&keys, words, black_box(&mut totals));
        self.row(&format!("scan by key, runs {of}"), &call, &mut [("loop", &mut plain)])?;
        agree(&z, &totals)
    }

    fn keys(&self) -> Result<()> {
        let words = &self.words[..];
        let (x, y) = (self.cpu.upload(words)?, self.alloc()?);
        let call = self.cpu.sort(&x).to(&y).prepare()?;
        let mut rdst = || black_box(&mut words.to_vec()).radix_sort_unstable();
        let mut voracious = || black_box(&mut words.to_vec()).voracious_mt_sort(rayon::current_num_threads());
        self.row("sort u32", &call, &mut [("rdst", &mut rdst), ("voracious", &mut voracious)])?;
        let wide: Vec<u64> = words.iter().map(|&w| u64::from(w).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let (x, y) = (self.cpu.upload(&wide)?, self.alloc()?);
        let call = self.cpu.sort(&x).to(&y).prepare()?;
        let mut rdst = || black_box(&mut wide.clone()).radix_sort_unstable();
        let mut voracious = || black_box(&mut wide.clone()).voracious_mt_sort(rayon::current_num_threads());
        self.row("sort u64", &call, &mut [("rdst", &mut rdst), ("voracious", &mut voracious)])?;
        let (x, y) = (self.cpu.upload(words)?, self.alloc()?);
        let call = self.cpu.sort(&x).bits(0..16).to(&y).prepare()?;
        let mut rdst = || {
            let mut keys: Vec<LowerHalf> = words.iter().copied().map(LowerHalf).collect();
            black_box(&mut keys).radix_sort_unstable();
        };
        let mut stable = || black_box(&mut words.to_vec()).par_sort_by_key(|word| word & 0xffff);
        self.row("sort u32, bits 0..16", &call, &mut [("rdst", &mut rdst), ("rayon's stable sort", &mut stable)])
    }

    /// Stable, of keys and values of 32 bits. Where the crates sort words of both, the values come in ascending order.
    fn pairs(&self) -> Result<()> {
        let words = &self.words[..];
        let values: Vec<u32> = (0..self.n() as u32).collect();
        let (x, v, y, w) = (self.cpu.upload(words)?, self.cpu.upload(&values)?, self.alloc()?, self.alloc()?);
        let call = self.cpu.sort(&x).with(&v).to((&y, &w)).prepare()?;
        let mut rdst = || black_box(&mut with_indices(words)).radix_sort_unstable();
        let mut voracious = || black_box(&mut with_indices(words)).voracious_mt_sort(rayon::current_num_threads());
        let mut stable = || sort_stably(words);
        let others: &mut [Other<'_>] = &mut [
            ("rdst, key and index in a u64", &mut rdst),
            ("voracious, key and index in a u64", &mut voracious),
            ("rayon's stable sort", &mut stable),
        ];
        self.row("sort u32+u32", &call, others)?;
        let wide: Vec<u64> = words.iter().map(|&w| u64::from(w).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let (x, y) = (self.cpu.upload(&wide)?, self.alloc()?);
        let call = self.cpu.sort(&x).with(&v).to((&y, &w)).prepare()?;
        let mut rdst = || {
            let pairs = wide.iter().zip(0..).map(|(&key, i)| u128::from(key) << 32 | i);
            black_box(&mut pairs.collect::<Vec<u128>>()).radix_sort_unstable();
        };
        let mut stable = || sort_stably(&wide);
        let others: &mut [Other<'_>] =
            &mut [("rdst, key and index in a u128", &mut rdst), ("rayon's stable sort", &mut stable)];
        self.row("sort u64+u32", &call, others)?;
        let narrow: Vec<u16> = words.iter().map(|&word| word as u16).collect();
        let (x, y) = (self.cpu.upload(&narrow)?, self.alloc()?);
        let call = self.cpu.sort(&x).with(&v).to((&y, &w)).prepare()?;
        let mut rdst = || black_box(&mut with_indices(&narrow)).radix_sort_unstable();
        let mut stable = || sort_stably(&narrow);
        let others: &mut [Other<'_>] =
            &mut [("rdst, key and index in a u64", &mut rdst), ("rayon's stable sort", &mut stable)];
        self.row("sort u16+u32", &call, others)
    }
}

/// Each key and its index in a word.
fn with_indices<K: Copy + Into<u64>>(keys: &[K]) -> Vec<u64> {
    keys.iter().zip(0..).map(|(&key, i)| key.into() << 32 | i).collect()
}

fn sort_stably<K: Copy + Ord + Send>(keys: &[K]) {
    let mut pairs: Vec<(K, u32)> = keys.iter().copied().zip(0..).collect();
    black_box(&mut pairs).par_sort_by_key(|pair| pair.0);
}

/// The first of all in an order.
fn first_of<T: Copy>(all: &[T], k: usize, order: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut all = all.to_vec();
    all.select_nth_unstable_by(k, &order);
    all.truncate(k);
    all.sort_unstable_by(&order);
    black_box(all)
}

/// A word that is sorted by its lower 16 bits. Words that are alike there come in any order, and a call's as they stand.
#[derive(Clone, Copy)]
struct LowerHalf(u32);

impl RadixKey for LowerHalf {
    const LEVELS: usize = 2;
    fn get_level(&self, level: usize) -> u8 {
        (self.0 >> (8 * level)) as u8
    }
}

impl Rows {
    /// The largest keys, in order.
    fn largest(&self) -> Result<()> {
        let words = &self.words[..];
        let x = self.cpu.upload(words)?;
        for k in [32, 1024, 65536].into_iter().filter(|k| *k < self.n()) {
            let y = self.cpu.alloc(k)?;
            let call = self.cpu.top_k(&x, k).to(&y).prepare()?;
            let mut first = vec![0; k];
            let mut select = || first = first_of(words, k, |a, b| b.cmp(a));
            self.row(&format!("top_k u32, k = {k}"), &call, &mut [("select_nth_unstable", &mut select)])?;
            agree(&y, &first)?;
        }
        let floats = self.floats();
        let x = self.cpu.upload(&floats)?;
        for k in [32, 1024].into_iter().filter(|k| *k < self.n()) {
            let y = self.cpu.alloc(k)?;
            let call = self.cpu.top_k(&x, k).to(&y).prepare()?;
            let mut first = vec![0.0; k];
            let mut select = || first = first_of(&floats, k, |a, b| b.total_cmp(a));
            self.row(&format!("top_k f32, k = {k}"), &call, &mut [("select_nth_unstable", &mut select)])?;
            agree(&y, &first)?;
        }
        Ok(())
    }

    /// Numbers over [0, 1).
    fn floats(&self) -> Vec<f32> {
        self.words.iter().map(|&word| (word >> 8) as f32 / (1 << 24) as f32).collect()
    }
}

/// The bin of a word: its upper eight bits.
#[derive(Clone)]
struct UpperByte;
impl Map<u32> for UpperByte {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return a >> 24u; }".into()
    }
    fn map(&self, a: u32) -> u32 {
        a >> 24
    }
}

impl Rows {
    fn segments(&self, of: &str, length: usize) -> Result<()> {
        let (n, words) = (self.n(), &self.words[..]);
        let offsets: Vec<u32> = (0..n as u32).step_by(length).chain([n as u32]).collect();
        let (x, o) = (self.cpu.upload(words)?, self.cpu.upload(&offsets)?);
        let (y, z) = (self.cpu.alloc(offsets.len() - 1)?, self.alloc::<u32>()?);
        let (mut totals, mut out) = (vec![0u32; offsets.len() - 1], vec![0u32; n]);
        let call = self.cpu.reduce(&x, Sum).segments(&o).to(&y).prepare()?;
        let mut plain = || reduce_segments(words, &offsets, black_box(&mut totals));
        self.row(&format!("reduce segments {of}"), &call, &mut [("loop", &mut plain)])?;
        agree(&y, &totals)?;
        let call = self.cpu.inclusive_scan(&x, Sum).segments(&o).to(&z).prepare()?;
        let mut plain = || scan_segments(words, &offsets, black_box(&mut out));
        self.row(&format!("scan segments {of}"), &call, &mut [("loop", &mut plain)])?;
        agree(&z, &out)?;
        let call = self.cpu.sort(&x).segments(&o).to(&z).prepare()?;
        let mut plain = || {
            out.copy_from_slice(words);
            offsets.windows(2).for_each(|ends| out[ends[0] as usize..ends[1] as usize].sort_unstable());
        };
        self.row(&format!("sort segments {of}"), &call, &mut [("sort_unstable of each", &mut plain)])?;
        agree(&z, &out)
    }

    fn firsts(&self) -> Result<()> {
        let keys: Vec<u32> = (0..self.n() as u32).map(|i| i / 8).collect();
        let (x, y, count) = (self.cpu.upload(&keys)?, self.alloc()?, self.cpu.alloc(1)?);
        let mut out = vec![0u32; self.n() + 1];
        let call = self.cpu.unique(&x).count_to(&count).to(&y).prepare()?;
        let mut plain = || _ = black_box(unique(&keys, black_box(&mut out)));
        self.row("unique, runs of 8", &call, &mut [("loop without branches", &mut plain)])?;
        let (v, z, mut carried) = (self.cpu.upload(&self.words)?, self.alloc::<u32>()?, vec![0u32; self.n() + 1]);
        let call = self.cpu.unique_by_key(&x, &v).count_to(&count).to((&y, &z)).prepare()?;
        let mut plain =
            || _ = black_box(unique_by_key(&keys, &self.words, black_box(&mut out), black_box(&mut carried)));
        self.row("unique by key, runs of 8", &call, &mut [("loop", &mut plain)])
    }

    fn bins(&self) -> Result<()> {
        let words = &self.words[..];
        let (x, y, mut counts) = (self.cpu.upload(words)?, self.cpu.alloc(256)?, vec![0u32; 256]);
        let call = self.cpu.histogram(x.mapped(UpperByte), 256).to(&y).prepare()?;
        let mut plain = || {
            counts.fill(0);
            words.iter().for_each(|word| counts[(word >> 24) as usize] += 1);
        };
        self.row("histogram u32, 256 bins", &call, &mut [("loop", &mut plain)])?;
        agree(&y, &counts)?;
        let floats = self.floats();
        let x = self.cpu.upload(&floats)?;
        let call = self.cpu.histogram(x.mapped(EvenBins::over(0.0, 1.0, 256)), 256).to(&y).prepare()?;
        let mut plain = || {
            counts.fill(0);
            floats.iter().for_each(|x| counts[(x * 256.0) as usize] += 1);
        };
        self.row("histogram f32, 256 bins", &call, &mut [("loop", &mut plain)])?;
        agree(&y, &counts)?;
        let edges: Vec<f32> = (0..=256).map(|i| (i as f32 / 256.0).powi(2)).collect();
        let limits = self.cpu.upload(&edges)?;
        let call = self.cpu.histogram(x.binned(&limits), 256).to(&y).prepare()?;
        let mut plain = || {
            counts.fill(0);
            floats.iter().for_each(|x| counts[edges.partition_point(|edge| edge <= x) - 1] += 1);
        };
        self.row("histogram f32, 256 edges", &call, &mut [("loop and partition_point", &mut plain)])?;
        agree(&y, &counts)
    }
}

/// Stops if a call and its loop differ: then their times are not those of the same work.
fn agree<T: Element>(ours: &Buffer<T, Cpu>, theirs: &[T]) -> Result<()> {
    let ours = ours.read()?;
    // A row that was left out wrote nothing.
    assert!(ours == theirs || ours == vec![T::zeroed(); ours.len()] || theirs == vec![T::zeroed(); theirs.len()]);
    Ok(())
}

// The loops are functions of their own, as in a program, and none is inlined to where its arguments are known.

#[inline(never)]
fn scan(x: &[u32], y: &mut [u32]) {
    let mut total = 0u32;
    for (y, &x) in y.iter_mut().zip(x) {
        total = total.wrapping_add(x);
        *y = total;
    }
}

#[inline(never)]
fn exclusive_scan(x: &[u32], y: &mut [u32]) {
    let mut total = 0u32;
    for (y, &x) in y.iter_mut().zip(x) {
        *y = total;
        total = total.wrapping_add(x);
    }
}

#[inline(never)]
fn reduce_segments(x: &[u32], offsets: &[u32], totals: &mut [u32]) {
    for (ends, total) in offsets.windows(2).zip(totals) {
        *total = x[ends[0] as usize..ends[1] as usize].iter().fold(0, |a, &b| a.wrapping_add(b));
    }
}

#[inline(never)]
fn scan_segments(x: &[u32], offsets: &[u32], y: &mut [u32]) {
    for ends in offsets.windows(2) {
        let segment = ends[0] as usize..ends[1] as usize;
        scan(&x[segment.clone()], &mut y[segment]);
    }
}

#[inline(never)]
fn unique(x: &[u32], first: &mut [u32]) -> usize {
    let (mut n, mut before) = (0, !x[0]);
    for &x in x {
        first[n] = x;
        n += usize::from(x != before);
        before = x;
    }
    n
}

#[inline(never)]
fn unique_by_key(x: &[u32], values: &[u32], first: &mut [u32], carried: &mut [u32]) -> usize {
    let (mut n, mut before) = (0, !x[0]);
    for (&x, &value) in x.iter().zip(values) {
        if x != before {
            (first[n], carried[n]) = (x, value);
            n += 1;
        }
        before = x;
    }
    n
}

#[inline(never)]
fn scan_by_key(keys: &[u32], values: &[u32], y: &mut [u32]) {
    let (mut before, mut total) = (!keys[0], 0u32);
    for ((y, &key), &value) in y.iter_mut().zip(keys).zip(values) {
        total = if key == before { total.wrapping_add(value) } else { value };
        *y = total;
        before = key;
    }
}

#[inline(never)]
fn compact(x: &[u32], kept: &mut [u32]) -> usize {
    let mut n = 0;
    for &x in x {
        kept[n] = x;
        n += usize::from(x >= 1 << 31);
    }
    n
}

#[inline(never)]
fn split(x: &[u32], kept: &mut [u32], rest: &mut [u32]) -> usize {
    let mut n = 0;
    for (i, &x) in x.iter().enumerate() {
        kept[n] = x;
        rest[i - n] = x;
        n += usize::from(x >= 1 << 31);
    }
    n
}

#[inline(never)]
fn reduce_by_key(keys: &[u32], values: &[u32], found: &mut [u32], totals: &mut [u32]) -> usize {
    let (mut run, mut total) = (0, 0u32);
    found[0] = keys[0];
    for (&key, &value) in keys.iter().zip(values) {
        if key != found[run] {
            totals[run] = total;
            run += 1;
            found[run] = key;
            total = 0;
        }
        total = total.wrapping_add(value);
    }
    totals[run] = total;
    run + 1
}

#[inline(never)]
fn run_lengths(keys: &[u32], found: &mut [u32], lengths: &mut [u32]) -> usize {
    let (mut run, mut length) = (0, 0u32);
    found[0] = keys[0];
    for &key in keys {
        if key != found[run] {
            lengths[run] = length;
            run += 1;
            found[run] = key;
            length = 0;
        }
        length += 1;
    }
    lengths[run] = length;
    run + 1
}
