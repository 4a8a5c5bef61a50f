//! Beam search: each step keeps the best continuations of each sentence's beams, by a top_k of rows.

use trifold::prelude::*;

const SENTENCES: usize = 2;
const BEAMS: usize = 3;
const WORDS: usize = 50;
const STEPS: usize = 4;

/// What a model would say of a word behind a beam: its logarithmic probability.
fn model(sentence: usize, beam: &[u32], word: usize) -> f32 {
    let last = beam.last().map_or(sentence as u32, |&last| last);
    let mixed = (last * 31 + word as u32 * 17 + sentence as u32 * 7 + 1).wrapping_mul(0x9e37_79b9) >> 16;
    -(mixed as f32 / 65536.0 + 0.1)
}

fn main() -> trifold::Result<()> {
    let gpu = trifold::open()?;
    // The words of each beam, and the sum of what the model said of them. All but one beam are out at first.
    let mut beams = vec![vec![vec![]; BEAMS]; SENTENCES];
    let mut sums = [0.0, f32::NEG_INFINITY, f32::NEG_INFINITY].repeat(SENTENCES);
    for _ in 0..STEPS {
        // A row a sentence: every word behind every beam.
        let mut scores = vec![];
        for (sentence, beams) in beams.iter().enumerate() {
            for (b, beam) in beams.iter().enumerate() {
                scores.extend((0..WORDS).map(|word| sums[sentence * BEAMS + b] + model(sentence, beam, word)));
            }
        }
        let uploaded = gpu.upload(&scores)?;
        let (best, at) = gpu.top_k(&uploaded, BEAMS).rows(BEAMS * WORDS).with_indices().read()?;
        // A sort of each row on the host begins with the same: of equal scores the first.
        for (row, (best, at)) in scores.chunks(BEAMS * WORDS).zip(best.chunks(BEAMS).zip(at.chunks(BEAMS))) {
            let mut order: Vec<u32> = (0..row.len() as u32).collect();
            order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
            assert_eq!(at, &order[..BEAMS]);
            assert!(at.iter().zip(best).all(|(&at, score)| row[at as usize] == *score));
        }
        // A place of a row is a beam and a word.
        let next = |(place, &at): (usize, &u32)| {
            let mut beam: Vec<u32> = beams[place / BEAMS][at as usize / WORDS].clone();
            beam.push(at % WORDS as u32);
            beam
        };
        let grown: Vec<Vec<u32>> = at.iter().enumerate().map(next).collect();
        beams = grown.chunks(BEAMS).map(<[Vec<u32>]>::to_vec).collect();
        sums = best;
    }
    for (beams, sums) in beams.iter().zip(sums.chunks(BEAMS)) {
        assert!(sums.is_sorted_by(|a, b| a >= b));
        println!("{:?} with {:.3}", beams[0], sums[0]);
    }
    Ok(())
}
