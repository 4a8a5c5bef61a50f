//! Trifold on wgpu: Vulkan, Metal, DX12 and GL.
