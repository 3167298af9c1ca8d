// Every tensor op.

func.func @tensor_misc(%t: tensor<2x3xf32>, %u: tensor<?x3xf32>, %i: index, %f: f32, %s: tensor<f32>, %r: tensor<2xi32>) {
  %0 = tensor.cast %t : tensor<2x3xf32> to tensor<?x3xf32>
  %1 = tensor.dim %t, %i : tensor<2x3xf32>
  %2 = tensor.empty() : tensor<2x3xf32>
  %3 = tensor.empty(%i) : tensor<?x3xf32>
  %4 = tensor.extract %t[%i, %i] : tensor<2x3xf32>
  %5 = tensor.extract %s[] : tensor<f32>
  %6 = tensor.insert %f into %t[%i, %i] : tensor<2x3xf32>
  %7 = tensor.insert %f into %s[] : tensor<f32>
  %8 = tensor.from_elements %f, %f, %f, %f : tensor<2x2xf32>
  %9 = tensor.from_elements %f : tensor<f32>
  %10 = tensor.splat %f : tensor<8xf32>
  %11 = tensor.splat %f[%i] : tensor<?x3xf32>
  %12 = tensor.rank %t : tensor<2x3xf32>
  %13 = tensor.bitcast %t : tensor<2x3xf32> to tensor<2x3xi32>
  %14 = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %15 = tensor.expand_shape %t [[0], [1, 2]] output_shape [2, 3, 1] : tensor<2x3xf32> into tensor<2x3x1xf32>
  %16 = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %17 = tensor.collapse_shape %16 [] : tensor<1x1xf32> into tensor<f32>
  %18 = tensor.expand_shape %u [[0, 1], [2]] output_shape [%i, 2, 3] : tensor<?x3xf32> into tensor<?x2x3xf32>
  %19 = tensor.concat dim(1) %t, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %20 = tensor.reshape %t(%r) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  %21 = tensor.from_elements %i, %i : tensor<2xindex>
  return
}

func.func @tensor_slices(%t: tensor<8x16x4xf32>, %s: tensor<4x4xf32>, %i: index, %n: index) {
  %0 = tensor.extract_slice %t[0, 2, 0] [8, 4, 4] [1, 1, 1] : tensor<8x16x4xf32> to tensor<8x4x4xf32>
  %1 = tensor.extract_slice %t[%i, 2, 0] [1, 4, 4] [1, 2, 1] : tensor<8x16x4xf32> to tensor<4x4xf32>
  %2 = tensor.extract_slice %t[%i, 2, %n] [1, %n, 4] [1, 1, %n] : tensor<8x16x4xf32> to tensor<1x?x4xf32>
  %3 = tensor.insert_slice %s into %t[%i, 2, 0] [1, 4, 4] [1, 1, 1] : tensor<4x4xf32> into tensor<8x16x4xf32>
  %4 = tensor.insert_slice %2 into %t[0, %i, 0] [1, %n, 4] [1, 1, 1] {foo} : tensor<1x?x4xf32> into tensor<8x16x4xf32>
  return
}

func.func @tensor_regions(%t: tensor<2x3xf32>, %f: f32, %i: index) {
  %0 = tensor.pad %t low[1, 2] high[0, 3] {
  ^bb0(%a: index, %b: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<3x8xf32>
  %1 = tensor.pad %t nofold low[%i, 2] high[0, %i] {
  ^bb0(%a: index, %b: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<?x?xf32>
  %2 = tensor.generate {
  ^bb0(%a: index, %b: index):
    %c = arith.index_cast %a : index to i32
    tensor.yield %c : i32
  } : tensor<4x5xi32>
  %3 = tensor.generate %i {
  ^bb0(%a: index, %b: index):
    tensor.yield %a : index
  } : tensor<?x5xindex>
  return
}

func.func @tensor_gather(%t: tensor<4x5xf32>, %i: tensor<3x1xindex>, %s: tensor<3x5xf32>, %s1: tensor<3x1x5xf32>) {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x5xf32>, tensor<3x1xindex>) -> tensor<3x5xf32>
  %1 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<3x1xindex>) -> tensor<4x5xf32>
  %2 = tensor.gather %t[%i] gather_dims([0]) unique : (tensor<4x5xf32>, tensor<3x1xindex>) -> tensor<3x1x5xf32>
  return
}
