// sort/segment_bucket: a segment for each digit of the place by which keys were partitioned, from where its first key went. None
// has keys if the histogram chose other passes.

// The last word of the route of the place that parts keys into buckets.
#define BUCKETS_CHOSEN (PLACES * DIGITS + 4u * BUCKET_PLACE + 3u)

struct Segment {
  // Its first key.
  u32 first;
  u32 count;
};

FUNCTION Segment segment_of(const u32 *counts, const Params &params, u32 group) {
  const u32 first = counts[params.buckets_at + group];
  const u32 end = group + 1u < DIGITS ? counts[params.buckets_at + group + 1u] : params.n;
  const Segment segment = {first, counts[BUCKETS_CHOSEN] == 0u ? 0u : end - first};
  return segment;
}
