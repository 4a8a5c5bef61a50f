// top_k/give_key: a key that is wanted, by its index. Where there is none it is zeros.

fn give_key(at: u32, index: u32) {
  var key = key_zero();
  if (index < params.n) { key = load_input(params.input_offset + index); }
  store_target_keys(params.target_offset + at, key);
}
