// select/keep_indices: a selection writes where its elements are.

alias StoredKept = u32;
alias Held = u32;

// What is held of an element until its place is known.
fn hold(item: Item, index: u32, wanted: bool) -> Held { return index; }

fn store_kept(place: u32, held: Held) { store_output(params.output_offset + place, held); }

fn store_rest(place: u32, held: Held) { store_output_rest(params.output_rest_offset + place, held); }
