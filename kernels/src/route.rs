//! C: what a sort's pass reads. It is the kernel's input, for which a view may stand, or what the pass before wrote.

use crate::view::{Views, type_of};

/// What a pass reads of keys, or of values.
pub(crate) struct Route {
    /// The argument that is the kernel's input.
    argument: &'static str,
    /// The argument that kernels have which read what a pass before wrote.
    temp: &'static str,
    /// What texts call it. They hand it on as a type of this name.
    name: &'static str,
    /// The function that makes one.
    pub(crate) made_by: &'static str,
    /// The function that loads from it.
    load: &'static str,
    /// The type of what memory holds.
    stored: &'static str,
    /// The type of what is loaded.
    loaded: &'static str,
    /// Where that lies in memory.
    at: &'static str,
    /// Whether it is loaded part by part.
    by_part: bool,
}

static ROUTES: [Route; 2] = [
    Route {
        argument: "input",
        temp: "temp",
        name: "keys",
        made_by: "keys_of",
        load: "load_key",
        stored: "StoredKey",
        loaded: "StoredKey",
        at: "index",
        by_part: false,
    },
    Route {
        argument: "input_values",
        temp: "temp_values",
        name: "values",
        made_by: "values_of",
        load: "load_value",
        stored: "StoredValue",
        loaded: "Value",
        at: "(size_t)(index) * VALUE_WORDS + (word)",
        by_part: true,
    },
];

impl Route {
    /// The one whose input this argument is.
    pub(crate) fn of(argument: &str) -> Option<&'static Route> {
        ROUTES.iter().find(|route| route.argument == argument)
    }

    /// The type and the functions, if the kernel may read what a pass before it wrote.
    pub(crate) fn text(&self, views: &Views<'_>) -> Option<String> {
        views.key.kernel.arguments.iter().find(|argument| argument.name == self.temp)?;
        let Route { argument, name, made_by, load, stored, loaded, at, .. } = self;
        let (ty, space) = (type_of(name), views.space());
        let (word, word_of_type, suffix) = if self.by_part { (", word", ", u32 word", "_word") } else { ("", "", "") };
        if views.key.view(argument).is_none() {
            return Some(format!(
                "typedef const {space}{stored} *{ty};\n\
                 #define {made_by}(is_input, input, other) ((is_input) ? (input) : (other))\n\
                 #define {load}({name}, index{word}) (({name})[{at}])\n"
            ));
        }
        let (function, input) = (views.function(), type_of(argument));
        Some(format!(
            "typedef struct {{\n  bool is_input;\n  {input} input;\n  const {space}{stored} *other;\n}} {ty};\n\
             {function}{ty} {made_by}(bool is_input, {input} input, const {space}{stored} *other) {{\n  \
               const {ty} {name} = {{is_input, input, other}};\n  return {name};\n}}\n\
             {function}{loaded} {load}({ty} {name}, u32 index{word_of_type}) {{\n  \
               if ({name}.is_input) {{ return load_{argument}{suffix}({name}.input, index{word}); }}\n  \
               return {name}.other[{at}];\n}}\n"
        ))
    }
}
