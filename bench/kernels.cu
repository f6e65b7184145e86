// The benchmark's kernels as one would write them in CUDA C++; bench/kernels.py compiles this with nvcc -O3 and runs both.
extern "C" {

__global__ void vadd(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] + y[i];
}

__global__ void saxpy(float a, const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + y[i];
}

#define TILE 32
#define ROWS 8
__global__ void transpose(const float *a, float *out, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int r = 0; r < TILE; r += ROWS)
    if (y + r < rows && x < cols)
      tile[threadIdx.y + r][threadIdx.x] = a[(size_t)(y + r) * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int r = 0; r < TILE; r += ROWS)
    if (y + r < cols && x < rows)
      out[(size_t)(y + r) * rows + x] = tile[threadIdx.x][threadIdx.y + r];
}

__global__ void matmul_tiled(const float *a, const float *b, float *c, int m, int k, int n) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float acc = 0;
  for (int start = 0; start < k; start += 32) {
    tile_a[ty][tx] = a[(size_t)row * k + start + tx];
    tile_b[ty][tx] = b[(size_t)(start + ty) * n + col];
    __syncthreads();
    for (int i = 0; i < 32; i++)
      acc += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  c[(size_t)row * n + col] = acc;
}

__global__ void matmul_naive(const float *a, const float *b, float *c, int m, int k, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float acc = 0;
    for (int i = 0; i < k; i++)
      acc += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    c[(size_t)row * n + col] = acc;
  }
}

__device__ float normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.3989422804014327f * expf(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void black_scholes(const float *price, const float *strike, const float *years, float rate, float volatility, float *call,
                              float *put, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = price[i], x = strike[i], t = years[i];
  float sqrt_t = sqrtf(t);
  float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * sqrt_t);
  float d2 = d1 - volatility * sqrt_t;
  float discounted = x * expf(-rate * t);
  float cdf_d1 = normal_cdf(d1), cdf_d2 = normal_cdf(d2);
  call[i] = s * cdf_d1 - discounted * cdf_d2;
  put[i] = discounted * (1.0f - cdf_d2) - s * (1.0f - cdf_d1);
}

__global__ void jacobi(const float *u, float *out, int rows, int cols) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (0 < i && i < rows - 1 && 0 < j && j < cols - 1)
    out[(size_t)i * cols + j] = 0.25f * (u[(size_t)(i - 1) * cols + j] + u[(size_t)(i + 1) * cols + j] + u[(size_t)i * cols + j - 1] +
                                         u[(size_t)i * cols + j + 1]);
}

__global__ void block_sum(const float *x, float *total, int n) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  float acc = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    acc += x[i];
  partial[t] = acc;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half)
      partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(total, partial[0]);
}

__global__ void histogram(const unsigned char *data, int *counts, int n) {
  __shared__ int local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    atomicAdd(&counts[b], local[b]);
}
}
