# Programs of operators in PyTorch's variants, and a model of speech with its front end: what make.py exports beside models.
# SPDX-License-Identifier: Apache-2.0
import torch
import torchvision
import transformers
from torch import fft, nn
from torch.nn import functional
from torch.nn.functional import grid_sample, pad


class Ears(nn.Module):
    """Samples -> Whisper's encoder, by the spectra of its feature extractor (Radford et al., 2022)."""

    def __init__(self, points=32, step=8, bands=8):
        super().__init__()
        config = transformers.WhisperConfig(
            d_model=16, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=32, num_mel_bins=bands,
            decoder_layers=1, decoder_attention_heads=2, vocab_size=9, pad_token_id=0, max_source_positions=12)
        self.points, self.step, self.encoder = points, step, transformers.WhisperModel(config).encoder
        self.register_buffer('window', torch.hann_window(points))
        self.register_buffer('filters', torch.rand(bands, points // 2 + 1))

    def narrowed(self, dtype):
        """Spectra stay f32: PyTorch has none of 16 bits on processors."""
        self.encoder.to(dtype)
        return self

    def forward(self, samples):
        spectra = torch.stft(samples, self.points, self.step, window=self.window, return_complex=True)
        bands = (self.filters @ spectra[..., :-1].abs()**2).clamp(min=1e-10).log10()
        bands = (torch.maximum(bands, bands.max() - 8) + 4) / 4
        if bands.dtype != self.encoder.conv1.weight.dtype:
            bands = bands.to(self.encoder.conv1.weight.dtype)
        return self.encoder(bands).last_hidden_state


class Spectra(nn.Module):
    """Transforms, and arithmetic of complex numbers."""

    def forward(self, x, y, signal):
        parts, window = torch.view_as_real, torch.hann_window
        z, w = torch.complex(x, y), fft.fft(y)
        half, whole = fft.rfft(x), torch.stft(signal, 16, window=window(16), onesided=False, normalized=True, return_complex=True)
        short = torch.stft(signal, 16, 5, 12, torch.hamming_window(12, False), center=False, return_complex=True)
        return [
            parts(half), half.abs(), fft.irfft(half, n=7), fft.irfft(fft.rfft(y)), fft.fft(x, n=5, dim=1, norm='ortho').imag,
            fft.rfft(x, n=11, norm='forward').real, parts(fft.fftn(x)), fft.rfftn(x, dim=(0, 2)).abs(),
            fft.irfft2(fft.rfft2(x)), fft.ifft2(w, s=(2, -1)).real, fft.fftshift(w).real, fft.ifftshift(w[..., 1:], -1).imag,
            parts(z * w), parts(z / (w + 9)), parts(z / x), parts(torch.add(z, w, alpha=2)), parts(x - z), parts(z**2 + 1),
            parts(z.conj() * 3), z.angle(), parts(torch.cat([z, w], 1)[:, 2:].transpose(0, 2)), parts(z.sum(-1)),
            parts(functional.pad(z, (1, 2), value=0.5)), parts(torch.polar(x, y)),
            torch.view_as_complex(torch.stack([x, y], -1)).abs(), parts(short), torch.blackman_window(6) * signal[:, :6],
            torch.istft(whole, 16, window=window(16), normalized=True, onesided=False, length=50),
            torch.istft(torch.stft(signal[0], 16, window=window(16), return_complex=True), 16, window=window(16)),
            (x.abs() + 0.1).log10(), (x.abs() + 0.1).log2(), x.exp2(), x.unfold(1, 2, 1),
        ]


class Sequences(nn.Module):
    """Recurrent layers and cells."""

    def __init__(self):
        super().__init__()
        self.both = nn.LSTM(4, 5, 2, bidirectional=True, batch_first=True)
        self.narrow = nn.LSTM(4, 5, proj_size=3)
        self.gated = nn.GRU(4, 5, 2, bidirectional=True)
        self.plain, self.clipped = nn.RNN(4, 5), nn.RNN(4, 5, nonlinearity='relu', bias=False)
        self.cells = nn.ModuleList(kind(4, 5) for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell))

    def forward(self, x, state):
        layers = [self.both(x), self.narrow(x), self.gated(x, state), self.plain(x), self.clipped(x)]
        return layers + [cell(x[0]) for cell in self.cells]


class Places(nn.Module):
    """Images read at grids and in regions, by windows, and beyond their edges."""

    def forward(self, image, grid, solid, places, matrices, regions):
        grids = [grid_sample(image, grid, mode, around, corners) for mode in ('bilinear', 'nearest', 'bicubic')
                 for around in ('zeros', 'border', 'reflection') for corners in (False, True)]
        whole = functional.unfold(image, 3, padding=1, stride=2)
        wide = functional.unfold(image, (2, 3), dilation=(2, 1), padding=(0, 2), stride=(2, 1))
        return grids + [
            grid_sample(solid, places, 'bilinear', 'border', True), grid_sample(solid, places, 'nearest', 'zeros', False),
            *(functional.affine_grid(matrices, [2, 1, 3, 4], corners) for corners in (False, True)),
            *(torchvision.ops.roi_align(image, regions, (3, 2), 0.5, 2, half) for half in (False, True)),
            *(functional.interpolate(image, size, mode=mode, antialias=True)
              for size in ((3, 2), (9, 3)) for mode in ('bilinear', 'bicubic')),
            functional.interpolate(image, scale_factor=(0.3, 1.5), mode='bicubic', antialias=True),
            pad(image, (1, 2, 3, 1), mode='circular'), torch.ops.aten.reflection_pad2d(image, [1, 2, 0, 1]),
            torch.ops.aten.replication_pad1d(image[0], [1, 9]), whole, wide, functional.unfold(image[0], 2),
            functional.fold(whole, (7, 4), 3, padding=1, stride=2),
            functional.fold(wide, (7, 4), (2, 3), dilation=(2, 1), padding=(0, 2), stride=(2, 1)),
        ]


def spectra_example(dtype):
    return dict(x=torch.randn(2, 3, 6), y=torch.randn(2, 3, 6), signal=torch.randn(2, 48))


def places_example(dtype):
    grid = torch.randn(2, 2, 3, 2)
    grid[0, 0] = torch.tensor([[1.0, -1.0], [-1.5, 1.25], [0.75, -1.25]])  # edges, and halves between elements
    regions = torch.cat([torch.tensor([[0.0], [1.0], [1.0]]), torch.tensor([[0.0, 1, 5, 9], [2, 3, 2.5, 3.5], [-9, 0, 30, 4]])], 1)
    return dict(image=torch.randn(2, 3, 7, 4), grid=grid, solid=torch.randn(1, 2, 3, 4, 5),
                places=torch.randn(1, 2, 2, 2, 3), matrices=torch.randn(2, 2, 3), regions=regions)


MODELS = {
    'whisper_with_ears': lambda: Ears(),
    'operators_of_spectra': lambda: Spectra(),
    'operators_of_sequences': lambda: Sequences(),
    'operators_of_places': lambda: Places(),
}
EXAMPLES = {
    'whisper_with_ears': lambda dtype: dict(samples=torch.randn(1, 192)),
    'operators_of_spectra': spectra_example,
    'operators_of_sequences': lambda dtype: dict(x=torch.randn(3, 2, 4), state=torch.randn(4, 2, 5)),
    'operators_of_places': places_example,
}
