//! Compiled pipelines kept on disk, where the API gives them away: Vulkan. A kernel has a pipeline cache of its own, so
//! that processes which share a folder do not overwrite each other's.

use trifold_cache::{Cache, Key};

use crate::Wgpu;

#[derive(Clone)]
pub(crate) struct KernelCache(pub(crate) Cache);

/// A kernel's pipeline cache, and where it is kept.
pub(crate) struct Kept {
    pub(crate) pipelines: wgpu::PipelineCache,
    key: Key,
    found: Option<Vec<u8>>,
}

impl KernelCache {
    /// The pipeline cache to compile this text with, if there are such.
    pub(crate) async fn open(&self, backend: &Wgpu, source: &str) -> Option<Kept> {
        self.0.folder()?;
        if !backend.device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let device = wgpu::util::pipeline_cache_key(&backend.device.adapter_info())?;
        let key = Key::new("wgpu", &[source, &device, &backend.caps.driver]);
        let data = self.0.get(&key);
        let descriptor =
            wgpu::PipelineCacheDescriptor { label: Some("trifold"), data: data.as_deref(), fallback: true };
        // SAFETY: the data is what `get_data` gave for the same device and driver, says the key, and the digest beside it
        // that no damage changed it since. Whoever could write both on purpose is a user with whom the folder is shared, as the
        // cache's documentation says. wgpu compares the header with this device and its own version besides.
        let made = || unsafe { backend.device.create_pipeline_cache(&descriptor) };
        let pipelines =
            backend.caught(0, made).await.inspect_err(|error| tracing::warn!(%error, "a pipeline cache")).ok()?;
        Some(Kept { pipelines, key, found: data })
    }

    /// Keeps what the driver made, if it is not what was found.
    pub(crate) fn keep(&self, kept: Kept) {
        match kept.pipelines.get_data() {
            Some(data) if kept.found.as_ref() != Some(&data) => self.0.put(&kept.key, &data),
            _ => {}
        }
    }
}
