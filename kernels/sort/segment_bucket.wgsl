// sort/segment_bucket: a segment for each digit of the place by which keys were partitioned, from where its first key went. None
// has keys if the histogram chose other passes.

// The last word of the route of the place that parts keys into buckets.
const BUCKETS_CHOSEN: u32 = PLACES * DIGITS + 4u * BUCKET_PLACE + 3u;

struct Segment {
  // Its first key.
  first: u32,
  count: u32,
}

var<workgroup> shared_first: u32;
var<workgroup> shared_end: u32;

fn segment_of(group: u32, thread: u32) -> Segment {
  if (thread == 0u) {
    shared_first = counts[params.buckets_at + group];
    shared_end = params.n;
    if (group + 1u < DIGITS) { shared_end = counts[params.buckets_at + group + 1u]; }
    if (counts[BUCKETS_CHOSEN] == 0u) { shared_end = shared_first; }
  }
  let first = workgroupUniformLoad(&shared_first);
  return Segment(first, workgroupUniformLoad(&shared_end) - first);
}
