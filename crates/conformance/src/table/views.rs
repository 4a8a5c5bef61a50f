//! Rows of views: what primitives read by maps, and from other places.

use trifold_core::{
    Builtin, Element, ElementType, Fault, Keeps, KeyImage, Node, NonZero, Op, Operand, Order, Request, Rest, Scalar,
    ScanKind, Selector, Slot, SortRequest, UpperHalf, Viewed, Wanted, forms, planner,
};
use trifold_cpu::oracle;

use super::top_k::unsorted;
use super::{Inputs, Table, by_key, histogram, keeping, offsets, reduce, scan, scatter, select, sort, top_k, weighted};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::maps::{self, Placed};
use crate::operators::{self, Fields};
use crate::row::{Placement, Row, Tiles};

/// What the leaves of a request's views hold, in order.
pub(crate) fn leaves(request: &Request, distribution: Distribution, random: &mut Random) -> Vec<Vec<u8>> {
    let gathers = request.views().iter().any(|of| of.view.leaves().iter().any(|leaf| !leaf.straight));
    let operands = request.operands().into_iter().filter(|operand| matches!(operand.slot, Slot::Leaf(_)));
    let leaf = |operand: Operand| match operand.element {
        // Places, some of them past the last.
        ElementType::Scalar(Scalar::U32) if gathers => {
            let most = maps::SOURCE as u64 + 100;
            let place = |_| if random.next().is_multiple_of(500) { u32::MAX } else { (random.next() % most) as u32 };
            (0..operand.len).map(place).flat_map(u32::to_le_bytes).collect()
        }
        // Any bits are moved and rounded. Arithmetic has its own NaNs, and a device may take subnormal floats for zero.
        _ if is_moved(request, &operand.element) && distribution != Distribution::Specials => {
            inputs::any(&operand.element, operand.len, random)
        }
        _ => inputs::items(&operand.element, distribution, operand.len, random),
    };
    let mut leaves: Vec<Vec<u8>> = operands.map(leaf).collect();
    for of in request.views() {
        for (number, element) in searched(of.view.node()) {
            sort_bytes(&mut leaves[usize::from(of.first + number)], &element);
        }
    }
    leaves
}

/// The leaves in which a node searches.
fn searched(node: &Node) -> Vec<(u8, ElementType)> {
    match node {
        Node::Leaf(..) | Node::Place => vec![],
        Node::Mapped(_, of) => of.iter().flat_map(searched).collect(),
        Node::Gathered { source, index, .. } => [searched(source), searched(index)].concat(),
        Node::Bound { sorted, of, .. } => match &**sorted {
            Node::Leaf(leaf, element) => [vec![(*leaf, element.clone())], searched(of)].concat(),
            _ => searched(of),
        },
    }
}

fn sort_bytes(leaf: &mut [u8], element: &ElementType) {
    let Ok(image) = KeyImage::new(element, Order::Ascending) else { return };
    let mut elements: Vec<Vec<u8>> = leaf.chunks_exact(element.bytes() as usize).map(<[u8]>::to_vec).collect();
    elements.sort_by_key(|element| image.of(element));
    leaf.copy_from_slice(&elements.concat());
}

/// Whether a leaf's elements of any bits have one answer: in copies, but for what arithmetic makes of floats.
fn is_moved(request: &Request, element: &ElementType) -> bool {
    let is_gathered = |node: &Node| matches!(node, Node::Gathered { .. });
    let is_beside = |node: &Node| matches!(node, Node::Mapped(_, of) if of.iter().any(is_gathered));
    let is_square = |node: &Node| matches!(node, Node::Mapped(map, _) if map.name == "Square");
    let computes = request.views().iter().any(|Viewed { view, .. }| {
        view.leaves().len() > 1 || view.node().element().bytes() > 4 || is_beside(view.node()) || is_square(view.node())
    });
    let is_float = matches!(element, ElementType::Scalar(scalar) if scalar.is_float());
    matches!(request.unviewed(), Request::Copy(_)) && !(is_float && computes)
}

/// The inputs of a request in place of its views, given what their leaves hold.
pub(crate) fn inputs(request: &Request, (mut input, mut values): Inputs, leaves: &[Vec<u8>]) -> Inputs {
    for of in request.views() {
        let own = &leaves[usize::from(of.first)..][..of.view.leaves().len()];
        let made = oracle::made(&of.view, request.n(), own);
        match of.slot {
            Slot::Input => input = made,
            _ => values = Some(made),
        }
    }
    (input, values)
}

impl Table<'_> {
    pub(super) fn views(&mut self) {
        for (turn, view) in maps::views().unwrap_or_default().iter().enumerate() {
            for placement in [Placement::Aligned, Placement::Odd] {
                for &n in if self.level == Level::Full { &[0, 1, 777, 5003][..] } else { &[1, 5003] } {
                    self.by_algorithm(Row::new(view.with_n(n)).placement(placement));
                }
            }
            let of = &view.views()[0].view;
            if of.leaves().iter().all(|leaf| is_moved(view, &leaf.element)) {
                self.by_first(Row::new(view.with_n(5003)).distribution(Distribution::Specials));
            }
            let element = of.node().element();
            let scattered = maps::of(view, scatter(element, 5003, 1200), Slot::Input);
            self.by_algorithm(Row::new(scattered).placement(if turn % 2 == 0 {
                Placement::Aligned
            } else {
                Placement::Odd
            }));
            self.view_of_elements(view, turn);
            if self.level == Level::Full && turn == 0 {
                self.past_the_fold(|n| Row::new(view.with_n(n)));
            }
        }
    }

    /// Elements beside the ones before them, from the same memory.
    pub(super) fn views_of_neighbours(&mut self) {
        let view = |scalar, n| forms::ADJACENT_DIFFERENCE.request(scalar, Builtin::Sum, n).ok();
        for scalar in Scalar::ALL {
            for (n, placement) in
                [(0, Placement::Aligned), (1, Placement::Odd), (777, Placement::Odd), (5003, Placement::Aligned)]
            {
                if let Some(request) = view(scalar, n) {
                    self.by_algorithm(Row::new(request).placement(placement));
                }
            }
        }
        for (scalar, n) in [(Scalar::U32, 20_011), (Scalar::I16, 5003), (Scalar::U64, 5003)] {
            let Some(view) = view(scalar, n) else { continue };
            let keys = sort(scalar, Some(u32::TYPE), Order::Descending, n);
            let requests = [keys, by_key(&scalar.into(), None, n), SortRequest::argsort(scalar.into(), n).into()];
            for request in requests {
                let request = maps::of(&view, request, Slot::Input);
                self.by_algorithm(Row::new(request.clone()));
                self.by_algorithm(Row::new(request).placement(Placement::Odd));
            }
        }
    }

    /// Sorts of keys or values that a view gives, beside memory that is sorted in place.
    pub(super) fn views_beside_places(&mut self) {
        let views = maps::views().unwrap_or_default();
        let Some(view) = views.iter().find(|view| view.views()[0].view.node().element() == u32::TYPE) else { return };
        for (slot, placement) in [(Slot::Input, Placement::InPlace), (Slot::InputValues, Placement::OddInPlace)] {
            for (n, distribution) in [
                (300, Distribution::Uniform),
                (5003, Distribution::Constant),
                (20_011, Distribution::Uniform),
                (20_011, Distribution::Constant),
            ] {
                let pairs = SortRequest::new(u32::TYPE, n).with(u32::TYPE);
                for request in [pairs.clone(), pairs.of_segments(offsets(40))] {
                    let row = Row::new(maps::of(view, request.into(), slot)).placement(placement);
                    let row = row.distribution(distribution);
                    self.row(row.clone());
                    for algorithm in planner::algorithms(&row.request, self.caps) {
                        let row = row.clone().algorithm(algorithm);
                        if !algorithm.is_of_one_tile() || row.plan(self.caps, self.tuning).is_ok() {
                            self.row(row);
                        }
                    }
                }
            }
        }
    }

    /// Keys that are structs.
    pub(super) fn views_of_fields(&mut self) {
        let Ok(view) = maps::fields() else { return };
        for (n, placement) in [(301, Placement::Odd), (5003, Placement::Aligned)] {
            let keys = [
                sort(Fields::TYPE, None, Order::Ascending, n),
                sort(Fields::TYPE, Some(u32::TYPE), Order::Descending, n),
                SortRequest::argsort(Fields::TYPE, n).into(),
                by_key(&Fields::TYPE, None, n),
                top_k(Fields::TYPE, Wanted::KeysAndIndices, Order::Descending, 30, n),
            ];
            for request in keys {
                self.by_algorithm(Row::new(maps::of(&view, request, Slot::Input)).placement(placement));
            }
            // By a sample, few and many, and many by digits.
            let first = |k| top_k(Fields::TYPE, Wanted::KeysAndIndices, Order::Ascending, k, n);
            let listed = vec![("top_k_all", 0), ("top_k_listed", 2)];
            let flagged = vec![("top_k_all", 0), ("top_k_selected", 100), ("top_k_selected_from", 0)];
            for (request, numbers) in
                [(first(30), listed), (first(n * 2 / 5), flagged.clone()), (unsorted(first(n * 2 / 5)), flagged)]
            {
                let row = Row::new(maps::of(&view, request, Slot::Input)).placement(placement);
                self.by_algorithm(row.tiles(Tiles::Numbers(numbers)));
            }
        }
    }

    /// What programs ask for by name, of every type that has it: squares, their sums, products, and where the least number stands.
    pub(super) fn views_by_name(&mut self) {
        let forms = [&forms::TRANSFORM, &forms::SUM_OF_SQUARES, &forms::DOT, &forms::ARG_MIN];
        for (form, scalar) in forms.into_iter().flat_map(|form| Scalar::ALL.map(|scalar| (form, scalar))) {
            for (n, placement) in [(37, Placement::Odd), (20_011, Placement::Aligned)] {
                let Ok(request) = form.request(scalar, Builtin::Sum, n) else { continue };
                // Of equal numbers the first is the least. Floats are ordered by their bits.
                let distribution = match *form == forms::ARG_MIN {
                    true if scalar.is_float() => Distribution::Specials,
                    true => Distribution::Few,
                    false => Distribution::Uniform,
                };
                self.by_algorithm(Row::new(request).placement(placement).distribution(distribution));
            }
        }
    }

    /// Sorts of what a view gives, and reductions by it.
    fn view_of_keys(&mut self, view: &Request, turn: usize, sizes: &[u64]) {
        let element = view.views()[0].view.node().element();
        let all = self.level == Level::Full;
        let value = ElementType::Scalar(Scalar::U32);
        let placements = [Placement::Aligned, Placement::Odd].into_iter().enumerate();
        for (_, placement) in placements.filter(|(i, _)| all || turn % 2 == *i) {
            for &n in sizes {
                let mut rows = vec![];
                if matches!(element, ElementType::Scalar(_)) {
                    rows.push(maps::of(view, sort(element.clone(), None, Order::Ascending, n), Slot::Input));
                    if all || turn.is_multiple_of(3) {
                        let pairs = sort(element.clone(), Some(value.clone()), Order::Descending, n);
                        rows.push(maps::of(view, pairs, Slot::Input));
                        rows.push(maps::of(view, SortRequest::argsort(element.clone(), n).into(), Slot::Input));
                    }
                }
                rows.push(maps::of(view, by_key(&element, None, n), Slot::Input));
                if let ElementType::Scalar(scalar) = element
                    && let Some(op) = Op::builtin(Builtin::Max, scalar)
                {
                    rows.push(maps::of(view, by_key(&value, Some(op), n), Slot::InputValues));
                }
                let pairs = sort(Scalar::U32, Some(element.clone()), Order::Ascending, n);
                rows.push(maps::of(view, pairs, Slot::InputValues));
                rows.into_iter().for_each(|row| self.by_algorithm(Row::new(row).placement(placement)));
            }
        }
    }

    /// The primitives that compute with elements. Each view has a kernel of its own of each: at the quick level by turns.
    fn view_of_elements(&mut self, view: &Request, turn: usize) {
        let element = view.views()[0].view.node().element();
        let all = self.level == Level::Full;
        let is_turn = |i: usize, of: usize| all || turn % of == i;
        let ops = match &element {
            ElementType::Scalar(scalar) => [Builtin::Sum, Builtin::Max].map(|which| Op::builtin(which, *scalar)).into(),
            ElementType::Struct { .. } => vec![Some(operators::latest())],
        };
        let sizes: &[u64] = if all { &[1, 3001, 20_011, 200_003] } else { &[1, 20_011] };
        let tiles = if all { vec![Tiles::Shipped, Tiles::Small] } else { vec![Tiles::Shipped] };
        for op in ops.into_iter().flatten().take(if all { 2 } else { 1 }) {
            let placements = [Placement::Aligned, Placement::Odd].into_iter().enumerate();
            for (_, placement) in placements.filter(|(i, _)| is_turn(*i, 2)) {
                for &n in sizes {
                    for tiles in &tiles {
                        let row = |request| {
                            let request = maps::of(view, request, Slot::Input);
                            Row::new(request).placement(placement).tiles(tiles.clone())
                        };
                        self.by_algorithm(row(reduce(&op, n)));
                        self.by_algorithm(row(scan(&op, ScanKind::Inclusive, n)));
                    }
                }
            }
        }
        self.view_of_keys(view, turn, sizes);
        self.view_of_segments(view, turn);
        let selectors: Vec<Selector> = match element {
            ElementType::Struct { .. } => {
                vec![Selector::of::<Placed, _>(operators::OddPlace), Selector::first_of_run::<Placed>()]
            }
            ElementType::Scalar(scalar) => {
                UpperHalf::of(scalar).into_iter().chain([Selector::first_of_run_of(scalar)]).collect()
            }
        };
        if is_turn(0, 4) {
            self.view_of_stuck_tiles(view, &selectors);
        }
        if element == u32::TYPE {
            for &n in sizes {
                self.by_algorithm(Row::new(maps::of(view, histogram(300, n), Slot::Input)));
            }
        }
        if let ElementType::Scalar(scalar @ (Scalar::U32 | Scalar::I32 | Scalar::F32)) = element {
            let request = maps::of(view, weighted(Some(scalar), 300, 5003), Slot::InputValues);
            self.by_algorithm(Row::new(request));
        }
        if selectors.is_empty() {
            return;
        }
        let rests =
            [(Rest::Dropped, Placement::Aligned), (Rest::Apart, Placement::Odd), (Rest::Behind, Placement::Aligned)];
        for (_, (rest, placement)) in rests.into_iter().enumerate().filter(|(i, _)| is_turn(*i, 3)) {
            for &n in sizes {
                if rest == Rest::Dropped {
                    let flags = Selector::of::<u8, _>(NonZero);
                    let others = [
                        (keeping(&selectors[0], rest, Keeps::Indices, n), Slot::Input),
                        (keeping(&selectors[1], rest, Keeps::Pairs(u16::TYPE), n), Slot::Input),
                        (keeping(&flags, rest, Keeps::Values(element.clone()), n), Slot::InputValues),
                    ];
                    for (request, slot) in others {
                        self.by_algorithm(Row::new(maps::of(view, request, slot)).placement(placement));
                    }
                }
                for selector in &selectors {
                    let request = maps::of(view, select(selector, rest, n), Slot::Input);
                    self.by_algorithm(Row::new(request).placement(placement));
                }
            }
        }
    }

    /// Tiles that do not tell what they have, so that others load their elements again.
    fn view_of_stuck_tiles(&mut self, view: &Request, selectors: &[Selector]) {
        let (n, element) = (20_011, view.views()[0].view.node().element());
        let op = match &element {
            ElementType::Scalar(scalar) => Op::builtin(Builtin::Max, *scalar),
            ElementType::Struct { .. } => Some(operators::latest()),
        };
        let scanned = op.map(|op| scan(&op, ScanKind::Inclusive, n));
        let selected = selectors.last().map(|selector| select(selector, Rest::Dropped, n));
        for request in scanned.into_iter().chain(selected) {
            let row = Row::new(maps::of(view, request, Slot::Input)).tiles(Tiles::Small);
            self.by_first(row.clone().fault(Fault::Silent(3)));
            self.by_first(row.fault(Fault::Late(5)));
        }
    }
}
