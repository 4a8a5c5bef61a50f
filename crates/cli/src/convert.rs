//! Files whose bytes are no numbers as this program reads them, and how to make a `.npy` of each.

use std::path::Path;

use crate::stored::Stored;

/// By a name's end: what the file holds, and Python that reads an array of type `{t}` from the file `{f}`.
const FORMATS: [(&str, &str, &str); 10] = [
    ("csv", "text", "np.loadtxt('{f}', '{t}', delimiter=',')"),
    ("tsv", "text", "np.loadtxt('{f}', '{t}', delimiter='\\t')"),
    ("txt", "text", "np.loadtxt('{f}', '{t}')"),
    ("json", "text", "np.array(json.load(open('{f}')), '{t}')"),
    ("npz", "an archive", "np.load('{f}')['arr_0'].astype('{t}')"),
    ("parquet", "a table", "pd.read_parquet('{f}')['COLUMN'].to_numpy('{t}')"),
    ("arrow", "a table", "pd.read_feather('{f}')['COLUMN'].to_numpy('{t}')"),
    ("feather", "a table", "pd.read_feather('{f}')['COLUMN'].to_numpy('{t}')"),
    ("h5", "an archive", "h5py.File('{f}')['NAME'][:].astype('{t}')"),
    ("hdf5", "an archive", "h5py.File('{f}')['NAME'][:].astype('{t}')"),
];

/// Why a file of this name is not taken for raw numbers, and what to do; none if it may be.
pub fn advice(path: &Path, stored: Option<Stored>) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let (_, what, read) = FORMATS.iter().find(|(known, ..)| *known == ending)?;
    let (file, to) = (path.display().to_string(), path.with_extension("npy").display().to_string());
    // Numbers whose type nobody said: as wide as they may be.
    let read = read.replace("{f}", &file).replace("{t}", &stored.and_then(Stored::npy).unwrap_or("<f8".into()));
    let unsaid = if stored.is_none() {
        "\nwith the type of the numbers in place of <f8 (give --type to have it here),"
    } else {
        ""
    };
    let modules = ["json", "pd", "h5py"].into_iter().find(|name| read.contains(&format!("{name}.")));
    let import = match modules {
        Some("pd") => "import numpy as np, pandas as pd".into(),
        Some(other) => format!("import numpy as np, {other}"),
        None => "import numpy as np".to_string(),
    };
    Some(format!(
        "{file} holds {what} by its name, not raw numbers; make a .npy of it:\n    \
         python3 -c \"{import}; np.save('{to}', {read})\"{unsaid}\nor give --raw to take its bytes as they are"
    ))
}
