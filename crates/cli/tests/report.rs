//! Reports as a user asks for them: the page in a browser, the table as CSV, and files that are not what they should be.

mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{Folder, fails, rows, succeeds, text, trifold};
use serde_json::{Value, json};

/// A record of a time when rows had fewer fields.
fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/2026-11-20-h200.json")
}

fn experiments() -> PathBuf {
    kept("2026-11-23-h200-experiments.json")
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results").join(name)
}

/// The page of result files.
fn page(files: &[&Path]) -> String {
    let folder = Folder::new();
    let page = folder.path("page.html");
    let files = files.iter().map(|file| text(file));
    succeeds(&trifold(&["report"].into_iter().chain(files).chain(["-o", text(&page)]).collect::<Vec<_>>()));
    fs::read_to_string(page).unwrap()
}

/// The record's rows, and the same a tenth faster, with another algorithm beside the first and a row that failed.
fn two_files(folder: &Path) -> [PathBuf; 2] {
    let mut rows = rows(&record());
    for row in &mut rows {
        for (field, by) in [("gelem_s", 1.1), ("gb_s", 1.1), ("median_ms", 1.0 / 1.1)] {
            row[field] = json!(row[field].as_f64().unwrap() * by);
        }
        row["commit"] = json!("0123456789ab");
    }
    let mut other = rows.iter().find(|row| row["algorithm"] == "onesweep" && row["n"] == 1 << 28).unwrap().clone();
    other["algorithm"] = json!("upsweep_downsweep");
    let mut failed = other.clone();
    (failed["verified"], failed["error"]) = (json!(false), json!("key 3 is <7>"));
    rows.extend([other, failed]);
    let second = folder.join("second.json");
    fs::write(&second, serde_json::to_string_pretty(&rows).unwrap()).unwrap();
    [record(), second]
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(record()).unwrap();
    let cut: String = good.lines().take(100).collect::<Vec<_>>().join("\n");
    let version = |number: &str| format!("\"version\": \"{number}\",\n    \"commit\": null");
    let rest = good.replacen("\"version\": \"0.1.0\"", &version("0.1.0"), 1);
    let newer = rest.replacen("\"version\": \"0.1.0\"\n", &(version("99.2.0") + "\n"), 1);
    let field = good.replacen("\"runs\": 20,", "\"runs\": 20,\n    \"joules\": 7,", 1);
    let cases: [(&str, &str, &[&str]); 8] = [
        ("cut.json", &cut, &["line 100", "truncated"]),
        ("newer.json", &newer, &["line 51", "99.2.0", "0.1.0"]),
        ("field.json", &field, &["line 13", "joules", "newer"]),
        ("type.json", &good.replacen("\"n\": 1024", "\"n\": \"many\"", 1), &["line 11", "many", "compare --json"]),
        ("version.json", &good.replacen("\"0.1.0\"", "\"soon\"", 1), &["line 26"]),
        ("words.json", "# Results", &["line 1", "compare --json"]),
        ("none.json", "[]", &["line 1", "no rows"]),
        ("empty.json", "", &["line 1", "truncated"]),
    ];
    let page = folder.path().join("page.html");
    for (name, content, words) in cases {
        let file = folder.path().join(name);
        fs::write(&file, content).unwrap();
        let output = trifold(&["report", text(&record()), text(&file), "-o", text(&page)]);
        fails(&output, &[&[name], words].concat());
    }
    fails(&trifold(&["report", "nowhere.json", "-o", text(&page)]), &["cannot read nowhere.json"]);
    assert!(!page.exists());
    // Without a word of where, the page is in the folder where the program runs.
    let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
    let output = program.args(["report", text(&record())]).current_dir(&folder).output().unwrap();
    succeeds(&output);
    assert!(folder.path().join("report.html").exists() && output.stderr.ends_with(b"report.html\n"), "{output:?}");
}

#[test]
fn outputs_replace_neither_results_nor_each_other() {
    let folder = Folder::new();
    let rows = fs::read(kept("2026-11-26-h200.json")).unwrap();
    let (first, second) = (folder.write("r.json", &rows), folder.write("r-json", &rows));
    let new = folder.path("new");
    let report = |words: &[&str]| trifold(&[&["report", text(&first)], words].concat());
    for option in ["-o", "--csv"] {
        fails(&report(&[option, text(&first)]), &[option, "would replace", "r.json", "another file"]);
        fails(&report(&[option, text(&folder.path("no/new"))]), &["no/new: there is no folder"]);
    }
    fails(&report(&["-o", text(&new), "--csv", text(&new)]), &["-o and --csv are the same file", "give two"]);
    assert_eq!(folder.names(), ["r-json", "r.json"]);
    // Drawings have names of their own, which an output, a result file or another's drawing may have too.
    let svg = ["--svg", text(folder.0.path())];
    let drawing = folder.path("r-scan-u32-sum.svg");
    fails(&report(&[&svg[..], &["--csv", text(&drawing)]].concat()), &["--csv and --svg are the same file"]);
    fs::rename(&second, &drawing).unwrap();
    fails(&report(&[&[text(&drawing)], &svg[..]].concat()), &["--svg ", "would replace", "r-scan-u32-sum.svg"]);
    fs::rename(&drawing, folder.path("r")).unwrap();
    fails(&report(&[&[text(&folder.path("r"))], &svg[..]].concat()), &["the chart of two result files", "rename one"]);
    assert_eq!(folder.names(), ["r", "r.json"]);
    assert_eq!(fs::read(&first).unwrap(), rows);
}

#[test]
fn csv_has_every_row_of_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = two_files(folder.path());
    let file = folder.path().join("rows.csv");
    succeeds(&trifold(&["report", text(&first), text(&second), "--csv", text(&file)]));
    let csv = fs::read_to_string(file).unwrap();
    assert!(csv.starts_with("file,backend,device,driver,api,primitive,algorithm,type,operator,n,"), "{csv:.200}");
    assert_eq!(csv.lines().count(), 1 + 225 + 227);
    assert!(csv.contains("\nsecond.json,cuda,NVIDIA H200,"));
}

#[test]
fn compare_writes_the_page_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    succeeds(&trifold(&["compare", "--device", "cpu", "-n", "0,1,2^12", "--runs", "2", "--html", text(&file)]));
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("<h2 id=\"scan-u32-sum-title\">Exclusive scan of u32, sum</h2>"), "{page:.2000}");
    assert!(page.contains("CPU · parallel"));
    let output = trifold(&["compare", "--device", "cpu", "-n", "1", "--html", text(folder.path())]);
    fails(&output, &["is a directory"]);
}

#[test]
fn drawings_are_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let drawings = folder.path().join("svg");
    // performance.md shows these, and no chart of the copy alone.
    let shown = ["--type", "u32", "--primitive", "scan,reduce,sort_keys,select_if", "--svg"];
    let rows = kept("2026-11-26-h200.json");
    succeeds(&trifold(&[&["report", text(&rows)], &shown[..], &[text(&drawings)]].concat()));
    let names = program::names(&drawings);
    let of = |subject: &str| format!("2026-11-26-h200-{subject}.svg");
    assert_eq!(names, ["reduce-u32-sum", "scan-u32-sum", "select-if-u32", "sort-keys-u32"].map(of));
    for name in names {
        let advice = format!("run `trifold report docs/results/2026-11-26-h200.json {} docs/results`", shown.join(" "));
        assert!(fs::read(kept(&name)).ok() == Some(fs::read(drawings.join(&name)).unwrap()), "{name} is old: {advice}");
    }
}

/// The WebGPU article's chart, which its page shows: one API's scans, and the CPU's.
#[test]
fn a_report_is_of_the_rows_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let drawings = folder.path().join("svg");
    let (rows, name) = ("2026-11-23-h200-experiments.json", "2026-11-23-h200-experiments-scan-ladder-scan-u32-sum.svg");
    let scans = "sequential,hillis_steele,blelloch,blelloch_blocked,subgroup_blocked,lookback";
    let wanted = ["--device", "Vulkan", "--device", "cpu", "--primitive", "scan", "--algorithm", scans];
    let advice =
        format!("run `trifold report docs/results/{rows} {} --svg` with a folder of your own", wanted.join(" "));
    let rows = kept(rows);
    succeeds(&trifold(&[&["report", text(&rows), "--svg", text(&drawings)][..], &wanted[..]].concat()));
    let drawn = fs::read_to_string(drawings.join(name)).unwrap();
    assert!(drawn.contains("WGSL, Vulkan · blelloch_blocked") && drawn.contains("CPU · sequential"));
    assert!(!drawn.contains("CUDA") && !drawn.contains("chained_scan"));
    assert!(fs::read_to_string(kept(name)).ok() == Some(drawn), "{name} is old: {advice}");

    let output = trifold(&["report", text(&rows), "--device", "wgpu", "--primitive", "select_if", "--csv", "x.csv"]);
    fails(&output, &["no row is left"]);
}

#[test]
fn crowded_comparisons_are_a_chart_an_algorithm() {
    let page = page(&[&experiments()]);
    let (_, ladder) = page.split_once("id=\"scan-ladder-scan-u32-sum\"").unwrap();
    let (ladder, _) = ladder.split_once("</section>").unwrap();
    let (charts, _) = ladder.split_once("<table").unwrap();
    for name in ["lookback", "chained_scan", "lookahead"] {
        assert!(charts.contains(&format!("<figcaption>{name}</figcaption>")), "{name}");
    }
    // One thread of the processor stands in each, and one legend entry hides it everywhere.
    assert!(!charts.contains("<figcaption>sequential</figcaption>"));
    assert_eq!(charts.matches("data-series=\"CPU\"").count(), 14);
    assert_eq!(charts.matches("data-key=\"CPU\"").count(), 1);
}

#[test]
fn a_crowded_file_does_not_hide_a_plain_one() {
    let folder = tempfile::tempdir().unwrap();
    let rows = rows(&experiments());
    let is_one =
        |row: &&Value| row["experiment"] == "scan-ladder" && row["backend"] == "cuda" && row["algorithm"] == "lookback";
    let rows: Vec<_> = rows.iter().filter(is_one).collect();
    let plain = folder.path().join("plain.json");
    fs::write(&plain, serde_json::to_vec(&rows).unwrap()).unwrap();
    let page = page(&[&experiments(), &plain]);
    assert!(page.contains("<figcaption>Throughput, plain.json</figcaption>"));
    assert!(page.contains("<figcaption>chained_scan, 2026-11-23-h200-experiments.json</figcaption>"));
}

/// Opens a page, and returns the document as its scripts left it and what they wrote to the console.
fn browse(browser: &Path, folder: &Path, page: &str, width: u32) -> (String, Vec<String>) {
    let file = folder.join("opened.html");
    fs::write(&file, page).unwrap();
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        // A container's own is often too small for it.
        .arg("--disable-dev-shm-usage")
        .args(["--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"])
        .args([&format!("--window-size={width},900"), &profile, &format!("file://{}", file.display())])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let document = String::from_utf8(output.stdout).unwrap();
    assert!(document.contains("<body"), "{} opened no page: {}\n{said}", browser.display(), output.status);
    let console = said.lines().filter(|line| line.contains("CONSOLE")).map(String::from).collect();
    (document, console)
}

/// What a reader does, with the outcome as attributes of the body.
const READER: &str = r##"<script>
const told = document.body.dataset, find = (selector) => document.querySelector(selector);
const section = find("#SECTION");
const line = section.querySelector(".plot [data-series]:not([data-series=ceiling])");
const entry = [...section.querySelectorAll(".legend button")].find((e) => e.dataset.key === line.dataset.series);
const state = () => `${entry.getAttribute("aria-pressed")} ${getComputedStyle(line).display}`;
told.before = state(); entry.click(); told.hidden = state(); entry.click(); told.shown = state();

const table = section.querySelector(":scope > .table table");
const heading = [...table.querySelectorAll("thead th")].find((th) => th.textContent.trim() === "median");
const values = () => [...table.tBodies[0].rows].map((row) => row.cells[heading.cellIndex].dataset.value);
// Rows without a time, which a device refused, come last either way.
const least = (by, value) => value ? by * Number(value) : Infinity;
const sorted = (by) => values().every((x, i, all) => i === 0 || least(by, x) >= least(by, all[i - 1]));
const sort = () => { heading.querySelector("button").click(); return heading.getAttribute("aria-sort"); };
told.unsorted = sorted(1); told.up = `${sort()} ${sorted(1)}`; told.down = `${sort()} ${sorted(-1)}`;
told.rows = values().length;

const theme = find("#theme"), paper = () => getComputedStyle(document.body).backgroundColor;
told.themes = [0, 1, 2].map(() => { theme.click(); return `${theme.textContent} ${paper()}`; }).join("; ");

const plot = section.querySelector(".plot"), figures = find("#figures");
plot.focus();
const press = (key) => {
  plot.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const on = document.querySelector(".point.on");
  return { series: on.parentNode.dataset.series, x: Number(on.dataset.x), shown: figures.textContent === on.dataset.figures };
};
const [start, right, down] = ["ArrowRight", "ArrowRight", "ArrowDown"].map(press);
told.keys = `${start.shown && right.shown && down.shown} ${right.series === start.series && right.x > start.x} ${
  down.series !== right.series && down.x === right.x}`;
plot.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
told.left = figures.textContent === "";
const at = line.querySelector(".point").getBoundingClientRect();
const move = { clientX: at.x + at.width / 2, clientY: at.y + at.height / 2, bubbles: true };
plot.dispatchEvent(new PointerEvent("pointermove", move));
told.hover = figures.textContent === document.querySelector(".point.on").dataset.figures;
const leave = (pointerType) => plot.dispatchEvent(new PointerEvent("pointerleave", { pointerType }));
leave("touch"); told.tapped = figures.textContent !== "";
document.body.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true })); told.elsewhere = figures.textContent === "";
plot.dispatchEvent(new PointerEvent("pointermove", move)); leave("mouse"); told.away = figures.textContent === "";

told.requests = performance.getEntriesByType("resource").length;
told.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
told.unnamed = [...document.querySelectorAll("button, a, [role=img], [role=group], [role=region], th")]
  .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label"))).length;
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
told.ids = ids.length - new Set(ids).size;
</script></body>"##;

/// What a reader of a section finds, whose table has so many rows: by widths of the window.
fn read(browser: &Path, folder: &Path, page: &str, section: &str, rows: usize) {
    let reader = READER.replace("SECTION", section);
    // The browser makes no window narrower than 500.
    for width in [1280, 500] {
        let (document, console) = browse(browser, folder, &page.replace("</body>", &reader), width);
        assert_eq!(console, [""; 0], "at {width}");
        let body = document.split("<body").nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_default();
        let told = |name: &str, value: &str| {
            assert!(body.contains(&format!("data-{name}=\"{value}\"")), "at {width}, {name} is not {value:?}: {body}");
        };
        told("before", "true inline");
        told("hidden", "false none");
        told("shown", "true inline");
        told("unsorted", "false");
        told("up", "ascending true");
        told("down", "descending true");
        told("rows", &rows.to_string());
        let [light, dark] = ["light rgb(255, 255, 255)", "dark rgb(21, 24, 28)"];
        told("themes", &format!("Theme: {light}; Theme: {dark}; Theme: system rgb(255, 255, 255)"));
        told("keys", "true true true");
        for what in ["left", "hover", "tapped", "elsewhere", "away"] {
            told(what, "true");
        }
        for what in ["requests", "overflow", "unnamed", "ids"] {
            told(what, "0");
        }
    }
    // On a phone nothing is cut off (a frame has no least width), nor where the letters are wider.
    let wider = page.replace("</head>", "<style>.chart text{letter-spacing:.2em}</style></head>");
    for (page, letters) in [(page, "its own"), (&wider, "wider")] {
        let framed = page.replace('&', "&amp;").replace('"', "&quot;");
        for width in [390, 320] {
            let (document, console) = browse(browser, folder, &phone(width, &framed), 1280);
            let (_, told) = document.split_once("<body").unwrap();
            let (told, _) = told.split_once('>').unwrap();
            let nothing = format!(" data-inner=\"{width}\" data-overflow=\"0\" data-cut=\"\"");
            assert!(told == nothing, "at {width} with {letters} letters{told}: {console:?}");
        }
    }
}

/// A page that shows another one in a frame of a width, and says whether that is cut off, or a chart's text.
fn phone(width: u32, framed: &str) -> String {
    format!(
        r##"<!doctype html><html><body><iframe style="border:0;width:{width}px;height:800px" srcdoc="{framed}"></iframe>
        <script>
        document.querySelector("iframe").addEventListener("load", (event) => {{
          const root = event.target.contentDocument.documentElement;
          document.body.dataset.inner = event.target.contentWindow.innerWidth;
          document.body.dataset.overflow = Math.max(0, root.scrollWidth - root.clientWidth);
          const right = (element) => element.getBoundingClientRect().right;
          const cut = [...root.querySelectorAll("svg.chart text")].filter((text) => right(text) > right(text.ownerSVGElement));
          document.body.dataset.cut = cut.map((text) => `${{Math.ceil(right(text) - right(text.ownerSVGElement))}} of ${{text.textContent}}`).join("; ");
        }});
        </script></body></html>"##
    )
}

#[test]
fn a_browser_shows_the_experiments() {
    let Some(browser) = trifold_conformance::chromium_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = page(&[&experiments()]);
    let rows = rows(&experiments());
    let rows = rows.iter().filter(|row| row["experiment"] == "scan-ladder").count();
    read(&browser, folder.path(), &page, "scan-ladder-scan-u32-sum", rows);
}

#[test]
fn a_browser_shows_the_page() {
    let Some(browser) = trifold_conformance::chromium_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = two_files(folder.path());
    let page = page(&[&first, &second]);
    read(&browser, folder.path(), &page, "scan-u32-sum", 90);
    // The failed row's words are words, and the ladder and the ratio are there.
    assert!(
        page.contains("key 3 is &lt;7&gt;") && page.contains("Algorithms at 2²⁸ elements on NVIDIA H200, second.json")
    );
    assert!(page.contains("second.json against 2026-11-20-h200.json"));

    // Where, of what and when the rows are.
    for said in ["NVIDIA H200", "NVIDIA 580.159.04", "2026-11-20", "0.1.0", "commit <code>0123456789ab</code>"] {
        assert!(page.contains(said), "{said}");
    }

    let wide = "&lt;!doctype html&gt;&lt;div style=&quot;width:600px;height:1px&quot;&gt;&lt;/div&gt;";
    let (document, _) = browse(&browser, folder.path(), &phone(390, wide), 1280);
    assert!(!document.contains("data-overflow=\"0\""));

    // What is looked for would be seen.
    let broken = "<script>console.error('x'); fetch('http://127.0.0.1:9/')</script></body>";
    let (_, console) = browse(&browser, folder.path(), &page.replace("</body>", broken), 1280);
    assert!(console.len() >= 2, "an error and a refused request leave their lines: {console:?}");
}

/// A time that is next to none, which no clock took.
#[test]
fn a_quotient_without_end_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = rows(&kept("2026-11-26-h200.json"));
    for row in &mut rows {
        for field in ["median_ms", "batched_ms", "predicted_ms"] {
            if row[field].is_f64() {
                row[field] = json!(if field == "median_ms" { 1.0 } else { 1e-320 });
            }
        }
    }
    let file = folder.path().join("rows.json");
    fs::write(&file, serde_json::to_string(&rows).unwrap()).unwrap();
    let page = page(&[&file]);
    assert!(!page.contains(">inf<") && !page.contains("\"inf\""));
}
