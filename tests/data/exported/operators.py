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


class Rearrangements(nn.Module):
    """Views, parts and places by the names that authors call them, and writes through them."""

    def forward(self, x, square, place, counts):
        written, turned, long = x * 1, x + 0, square.clone()
        written.swapaxes(1, 2).mul_(2).add_(1)
        turned.mT[..., 0].sub_(3).div_(2)
        long.swapdims(0, 1)[1].clamp_(-0.5, 0.5).exp_()
        first, second = torch.broadcast_tensors(x[:, :1], square[:2, None, :1])
        return [
            x.swapaxes(0, 2), x.swapdims(-1, 1), x.moveaxis(0, -1), torch.moveaxis(x, (0, 2), (1, 0)), x.movedim((2, 0), (0, 1)),
            x.ravel(), x.reshape_as(x.mT), x.adjoint(), x[:, :1].broadcast_to(2, 5, 4), first, second,
            torch.concat([x, x], 1), torch.concatenate([x, x]), torch.hstack([x, x]), torch.hstack([x[0, 0], x[0, 1]]),
            torch.vstack([x[0, 0], x[0, 1]]), torch.dstack([x[0], x[1]]), torch.dstack([x[0, 0], x[0, 1]]),
            *x.tensor_split(3, -1), *x.tensor_split((1, 2), 1), *x.tensor_split((-1,), 2), *x.unsafe_split(2, 2), *x.unsafe_chunk(2, -1),
            x.fliplr(), x.flipud(), *(torch.rot90(x, turns, (1, 2)) for turns in range(-1, 4)),
            x.diagonal(), x.diagonal(1, 2, 0), square.diagonal(-2), torch.diag_embed(x[0]), torch.diag_embed(x[0], -1, 0, 2),
            torch.diag(x[0, 0], 1), torch.diag(square, -1), torch.trace(square), torch.linalg.diagonal(x, offset=1),
            x.take(place), torch.take_along_dim(x, place[:1, :, None] % 3, 1), torch.take_along_dim(x, place % 24),
            x.index_add(1, place[0] % 3, x[:, :2], alpha=2), x.index_copy(2, place[0] % 4, x[..., :2] * 3),
            x.index_fill(0, place[0] % 2, 7.0), x.repeat_interleave(torch.tensor([2, 0, 3]), 1), x.repeat_interleave(torch.tensor([2]), 0),
            torch.as_strided(x * 1, (3, 2), (2, 1), 5), written, turned, long, torch.searchsorted(x[0].sort(-1).values, x[1]),
            torch.searchsorted(x[0, 0].sort().values, x[1], right=True), counts.count_nonzero(), counts.count_nonzero(0), ~counts,
        ]


class Algebra(nn.Module):
    """Vectors, matrices, norms and distances, and functions that few models call."""

    def __init__(self):
        super().__init__()
        self.pair = nn.Bilinear(4, 4, 3)

    def forward(self, x, square, flags):
        a, b, whole = x[0], x[1], torch.linalg
        holes, gaps = torch.stack([flags.reciprocal(), flags.log()]), (flags + 0.5).log()  # infinite and NaN, and NaN alone
        orders = [torch.norm(x, order, 1) for order in (0, 1, 2, 3, 0.5, float('inf'), float('-inf'))]
        return [
            torch.mv(a, b[0]), torch.dot(a[0], b[0]), torch.linalg.vecdot(a, b), torch.addmv(a[:, 0], a, b[0], beta=2, alpha=3),
            torch.addbmm(square[:3, :3], x, x.mT, beta=0.5), torch.inner(x, b), torch.inner(a[0], b[1]), torch.inner(a[0], x),
            torch.tensordot(x, x, ([0, 2], [0, 2])), torch.tensordot(x, square, 1), torch.kron(a, b), torch.kron(x, a[:2]), self.pair(a, b),
            torch.cross(a[:, :3], b[:, :3]), whole.cross(x[..., :3], x.flip(0)[..., 1:]), whole.matmul(x, square), *orders,
            torch.norm(x), x.norm(dim=(0, 2), keepdim=True), whole.norm(x), whole.norm(a), whole.norm(x, dim=(1, 2)), whole.norm(x, 1, 2),
            whole.vector_norm(x, 4, (1, 2)), torch.cdist(a, square), torch.cdist(x, x, 1.0), functional.pairwise_distance(a, b),
            functional.cosine_similarity(x, b, -1), torch.lerp(a, b, 0.25), torch.lerp(a, b, b), torch.addcmul(a, a, b, value=2),
            torch.addcdiv(a, b, a.abs() + 1, value=-1), torch.erfc(x), x.frac(), holes.isinf(), holes.isfinite(), torch.isposinf(holes),
            torch.isneginf(holes), holes.nan_to_num(), holes.nan_to_num(1, 2, -3), torch.logit(x.sigmoid()), torch.logit(x, 0.1),
            functional.logsigmoid(9 * x), torch.logaddexp(a, b), torch.hypot(a, b),
            torch.xlogy(a.relu(), b.abs()), torch.sinc(x), torch.deg2rad(x), torch.rad2deg(x), functional.hardshrink(x),
            functional.softshrink(x), functional.threshold(x, 0.1, 3.0), functional.glu(x, 2), torch.clip(x, -b.abs(), b.abs()),
            torch.multiply(a, b), torch.subtract(a, b), torch.true_divide(a, 3), torch.divide(a, b.abs() + 1, rounding_mode='floor'),
            torch.negative(x), torch.absolute(x), torch.greater(a, b), torch.less_equal(a, b), torch.not_equal(a, 0.0), torch.fix(3 * x),
            torch.sgn(x), *torch.var_mean(x, 1), *torch.std_mean(x, (0, 2), correction=0, keepdim=True), *torch.aminmax(x, dim=1),
            torch.var(x), torch.std(x), gaps.nansum(), gaps.nansum(1), x.median(), *x.median(1), *x.median(-1, keepdim=True),
            functional.batch_norm(x, None, None, square[0, :3], square[1, :3], training=True),
            functional.scaled_dot_product_attention(a, b, b), functional.scaled_dot_product_attention(x[None], x[None], x[None]),
            functional.scaled_dot_product_attention(*(x.reshape(1, 2, 1, 3, 4) for _ in range(3)), x.new_zeros(2, 1, 3, 3) + 0.1),
        ]


class Offsets(nn.Module):
    """Convolutions whose kernels read elsewhere."""

    def forward(self, image, offset, mask, weight, bias):
        convolved = torchvision.ops.deform_conv2d
        return [
            convolved(image, offset, weight, bias, (2, 1), (1, 0), (1, 2), mask),
            convolved(image, offset[:, :8], weight[:2, :1].repeat(2, 1, 1, 1), None, (2, 1), (1, 0), (1, 2)),
        ]


class Choices(nn.Module):
    """Rows that indices, masks and bags choose, and joins of those that meet."""

    def __init__(self):
        super().__init__()
        self.sums, self.means, self.largest = (nn.EmbeddingBag(9, 4, mode=mode) for mode in ('sum', 'mean', 'max'))
        self.padded = nn.EmbeddingBag(9, 4, mode='mean', padding_idx=2)
        self.closed = nn.EmbeddingBag(9, 4, mode='max', padding_idx=2, include_last_offset=True)
        self.register_buffer('chosen', torch.tensor([True, False, True]))
        self.register_buffer('positions', torch.rand(700, 3, dtype=torch.float64))

    def forward(self, x, words, begins, places, mask, rows, shares):
        joined = [x[0].scatter_reduce(0, places, x[1], how, include_self=own)
                  for how in ('sum', 'prod', 'mean', 'amax', 'amin') for own in (False, True)]
        counts, large = torch.arange(-6, 6).reshape(3, 4), torch.arange(2**40 - 5, 2**40 + 7).reshape(3, 4)
        rest = torch.ones(2, dtype=torch.bool)  # all true, which is known: the rows stay as many
        joined += [x[0].index_reduce(0, places[:, 3], x[1], how, include_self=own)
                   for how in ('prod', 'mean', 'amax', 'amin') for own in (False, True)]
        spread, turned, put, filled = x + 0, x * 1, x + 1, x - 1
        spread[..., 1::2] = 3 * x[..., ::2]
        spread[:, 0:3:2].mul_(2)
        turned.unsqueeze_(1).transpose_(0, 2).squeeze_(1)[0].add_(1)
        put[mask] = rows
        filled[mask] = rows[:1]
        torch._check(words.max().item() < 9)
        bags = [self.sums(words), self.means(words), self.largest(words), self.padded(words.flatten(), begins),
                self.sums(words.flatten(), begins, shares), self.closed(words.flatten(), begins),
                self.closed(words.flatten(), torch.tensor([0, 2, 6, 8]))]
        return joined + bags + [
            counts.scatter_reduce(0, places, counts * 3, 'mean'), large.scatter_reduce(0, places, -large, 'mean', include_self=False),
            x[rest == (rest * True)], counts.scatter_reduce(0, places, counts, 'amin', include_self=False),
            spread, turned, put, filled, x[:, self.chosen], torch.nonzero(self.chosen), x[0][self.chosen.nonzero(as_tuple=True)],
            torch.masked_select(x[0, :, 0], self.chosen), mask * self.chosen, mask + self.chosen, torch.isin(words, begins),
            torch.outer(places[0], shares), torch.tril_indices(3, 4, 1), torch.triu_indices(4, 3), torch.round(x * 100, decimals=1),
            torch.copysign(x, -x[0]),
            torch.full((2,), 16777217, dtype=torch.int32), torch.full((2,), 2**63 - 1), mask.any(), mask.all(0), x[..., 3:4:7],
            self.positions.float()[:3],
        ]


class Equations(nn.Module):
    """Small systems of equations, complex products, and the inverse of the error function."""

    def forward(self, a, b, c):
        whole, firm = torch.linalg, a @ a.mT + torch.eye(3)
        z, w = torch.complex(a, c), torch.complex(c, a)
        steps = torch.zeros(2, 3, 3, dtype=torch.complex64)
        modes = torch.zeros(2, 3, 3, dtype=torch.complex64)  # written as a Fourier operator writes its lowest modes
        modes[:, :2, :2] = torch.einsum('bij,bjk->bik', z[:, :2, :2], w[:, :2, :2])
        modes[:, -1:] = a[:, :1]
        modes[:, :, 2].add_(w[..., 0])
        modes *= 2
        torch.view_as_real(modes)[:, 0, :, 1] = a[:, 0]
        modes.real.mul_(3)
        modes.imag[:, 1] -= c[:, 1]
        pairs = torch.stack([a, c], -1)
        torch.view_as_complex(pairs)[:, 1].mul_(w[:, 0])
        low = whole.cholesky(firm)
        return [
            torch.cholesky_solve(b, low), torch.cholesky_solve(b, low.mT, upper=True), torch.cholesky_inverse(low),
            whole.solve_triangular(a, b, upper=True), whole.solve_triangular(a, b.mT, upper=False, left=False),
            whole.solve_triangular(a, b, upper=False, unitriangular=True), torch.triangular_solve(b, a, transpose=True)[0],
            *whole.slogdet(a), torch.logdet(firm), torch.view_as_real(modes), pairs, torch.view_as_real(torch.where(a > 0, z, w)),
            torch.view_as_real(torch.index_put(z, (torch.tensor([1]),), w[:1])),
            whole.inv(a), whole.solve(a, b), whole.solve(a, b[..., 0]), whole.solve(a, b.mT, left=False), whole.det(a), whole.cholesky(firm),
            whole.cholesky(firm, upper=True), whole.inv(torch.flip(torch.eye(3), [0]) * 2), torch.erfinv(c.tanh()),
            functional.mse_loss(a, c), functional.l1_loss(a, c, reduction='sum'), functional.smooth_l1_loss(a, c, beta=0.5),
            functional.huber_loss(a, c, reduction='none', delta=0.7), torch.special.ndtri(c.sigmoid()),
            torch.erfinv(torch.tensor([-1.0, 1.0, 2.0, 0.0])).nan_to_num(7.0, 9.0, -9.0),
            *(torch.view_as_real(y) for y in (
                z @ w, torch.einsum('bij,bjk->bik', z, w), torch.einsum('bij,bjk,bkl->bil', z, a.to(z.dtype), w), z.exp(), 1 / (w + 2),
                (z * 1j).sum(-1), 2 - z, steps + z, z[0, 0].dot(w[0, 0]))),
        ]


class MixedTypes(nn.Module):
    """Operands of several types, of which those without axes count less unless their kind is higher."""

    def forward(self, half, brief, single, whole, small, flags, one_half, one_single, one_whole):
        half, brief, one_half = half.half(), brief.bfloat16(), one_half.half()  # make.py gives floats of one type
        floats = [(half, one_single), (one_single, half), (half, single), (single, one_half), (brief, half), (whole, one_half),
                  (whole, one_single), (small, half), (one_half, one_single)]
        integers = [(small, one_whole), (flags, one_whole), (whole, small)]
        of_two = [torch.add, torch.mul, torch.div, torch.maximum, torch.minimum, torch.atan2, torch.fmod, torch.copysign, torch.xlogy,
                  torch.clamp_min, torch.where]
        results = []
        for a, b in floats + integers:
            results += [of(a > 1, a, b) if of is torch.where else of(a, b) for of in of_two[:11 if a.dtype != torch.bool else 5]]
            results += [torch.clamp(a, max=b), torch.clamp(a, b, b + 1), torch.stack([a.expand(3, 4), b.expand(3, 4)])]
        for a, b in floats[:5]:
            results += [torch.hypot(a, b), torch.logaddexp(a, b), torch.addcmul(a, b, b), torch.addcdiv(a, b, b),
                        functional.mse_loss(a, b, reduction='none'), functional.huber_loss(a, b, reduction='none')]
        written, counted, bounded = half.clone(), small.clone(), half.clone()
        results += [written.add_(single), written.mul(3), counted.mul_(one_whole), bounded.clamp_(min=one_single)]
        return results + [
            whole.clamp(1.5), whole.clamp(max=1.5), flags.clamp(0, 2), whole**whole, whole**5, 2**whole, flags**2, small**one_whole,
            torch.where(flags, True, False), torch.where(flags, 1, 2), torch.where(flags, 1, 0.5), torch.kron(half, single),
            torch.select_scatter(half, single[0], 0, 1), torch.slice_scatter(small, whole[:, :2], 1, 0, 2), half.masked_fill(flags, one_single),
            functional.pairwise_distance(half, single), torch.outer(half[0], single[0]),
        ]


def spectra_example(dtype):
    return dict(x=torch.randn(2, 3, 6), y=torch.randn(2, 3, 6), signal=torch.randn(2, 48))


def places_example(dtype):
    grid = torch.randn(2, 2, 3, 2)
    grid[0, 0] = torch.tensor([[1.0, -1.0], [-1.5, 1.25], [0.75, -1.25]])  # edges, and halves between elements
    regions = torch.cat([torch.tensor([[0.0], [1.0], [1.0]]), torch.tensor([[0.0, 1, 5, 9], [2, 3, 2.5, 3.5], [-9, 0, 30, 4]])], 1)
    return dict(image=torch.randn(2, 3, 7, 4), grid=grid, solid=torch.randn(1, 2, 3, 4, 5),
                places=torch.randn(1, 2, 2, 2, 3), matrices=torch.randn(2, 2, 3), regions=regions)


def choices_example(dtype):
    mask = torch.tensor([[True, False, False], [False, True, True]])
    return dict(x=torch.randn(2, 3, 4), words=torch.tensor([[1, 2, 3, 2], [4, 8, 2, 0]]), begins=torch.tensor([0, 3, 3, 5]),
                places=torch.tensor([[0, 1, 2, 0], [0, 1, 0, 2], [0, 0, 0, 2]]), mask=mask, rows=torch.randn(3, 4), shares=torch.rand(8))


def mixed_example(dtype):
    """Numbers of 16 bits and of 32, and integers whose powers f32 would round."""
    half, brief, single = (0.6 + 2 * torch.rand(3, 4) for _ in range(3))
    return dict(half=half.half().float(), brief=brief.bfloat16().float(), single=single, whole=torch.randint(1, 32, (3, 4)),
                small=torch.randint(1, 9, (3, 4), dtype=torch.int32), flags=torch.rand(3, 4) > 0.5,
                one_half=torch.tensor(1.2), one_single=torch.tensor(1.7), one_whole=torch.tensor(2))


MODELS = {
    'whisper_with_ears': lambda: Ears(),
    'operators_of_spectra': lambda: Spectra(),
    'operators_of_sequences': lambda: Sequences(),
    'operators_of_places': lambda: Places(),
    'operators_of_rearrangements': lambda: Rearrangements(),
    'operators_of_offsets': lambda: Offsets(),
    'operators_of_algebra': lambda: Algebra(),
    'operators_of_choices': lambda: Choices(),
    'operators_of_equations': lambda: Equations(),
    'operators_of_mixed_types': lambda: MixedTypes(),
}
EXAMPLES = {
    'whisper_with_ears': lambda dtype: dict(samples=torch.randn(1, 192)),
    'operators_of_spectra': spectra_example,
    'operators_of_sequences': lambda dtype: dict(x=torch.randn(3, 2, 4), state=torch.randn(4, 2, 5)),
    'operators_of_places': places_example,
    'operators_of_offsets': lambda dtype: dict(
        image=torch.randn(2, 4, 7, 6), offset=2 * torch.randn(2, 16, 4, 4), mask=torch.rand(2, 8, 4, 4), weight=torch.randn(3, 4, 2, 2),
        bias=torch.randn(3)),
    'operators_of_rearrangements': lambda dtype: dict(
        x=torch.randn(2, 3, 4), square=torch.randn(4, 4), place=torch.tensor([[0, 3], [-1, 11]]), counts=torch.arange(-2, 4).reshape(2, 3)),
    'operators_of_algebra': lambda dtype: dict(
        x=torch.randn(2, 3, 4), square=torch.randn(4, 4),
        flags=torch.tensor([[1.0, 0, -1], [0, 2, -3]])),
    'operators_of_choices': choices_example,
    'operators_of_mixed_types': mixed_example,
    'operators_of_equations': lambda dtype: dict(a=torch.randn(2, 3, 3), b=torch.randn(2, 3, 2), c=torch.randn(2, 3, 3)),
}
