// select/keep_items: a selection writes the elements themselves.

alias StoredKept = StoredItem;
alias Held = Item;

// What is held of an element until its place is known.
fn hold(item: Item, index: u32, wanted: bool) -> Held { return item; }

fn store_kept(place: u32, held: Held) { store_output(params.output_offset + place, held); }

fn store_rest(place: u32, held: Held) { store_output_rest(params.output_rest_offset + place, held); }
