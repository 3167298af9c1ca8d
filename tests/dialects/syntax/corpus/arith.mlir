// Every arith op, with its flags.

func.func @arith_addi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %t, %t : tensor<2xi64>
  %2 = arith.addi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_subi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %t, %t : tensor<2xi64>
  %2 = arith.subi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_muli(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %t, %t : tensor<2xi64>
  %2 = arith.muli %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_divui(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.divui %a, %b : i32
  %1 = arith.divui %t, %t : tensor<2xi64>
  %2 = arith.divui %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_divsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.divsi %a, %b : i32
  %1 = arith.divsi %t, %t : tensor<2xi64>
  %2 = arith.divsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_ceildivui(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.ceildivui %a, %b : i32
  %1 = arith.ceildivui %t, %t : tensor<2xi64>
  %2 = arith.ceildivui %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_ceildivsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.ceildivsi %a, %b : i32
  %1 = arith.ceildivsi %t, %t : tensor<2xi64>
  %2 = arith.ceildivsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_floordivsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.floordivsi %a, %b : i32
  %1 = arith.floordivsi %t, %t : tensor<2xi64>
  %2 = arith.floordivsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_remui(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.remui %a, %b : i32
  %1 = arith.remui %t, %t : tensor<2xi64>
  %2 = arith.remui %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_remsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.remsi %a, %b : i32
  %1 = arith.remsi %t, %t : tensor<2xi64>
  %2 = arith.remsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_andi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.andi %a, %b : i32
  %1 = arith.andi %t, %t : tensor<2xi64>
  %2 = arith.andi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_ori(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.ori %a, %b : i32
  %1 = arith.ori %t, %t : tensor<2xi64>
  %2 = arith.ori %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_xori(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.xori %a, %b : i32
  %1 = arith.xori %t, %t : tensor<2xi64>
  %2 = arith.xori %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_shli(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.shli %a, %b : i32
  %1 = arith.shli %t, %t : tensor<2xi64>
  %2 = arith.shli %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_shrui(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.shrui %a, %b : i32
  %1 = arith.shrui %t, %t : tensor<2xi64>
  %2 = arith.shrui %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_shrsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.shrsi %a, %b : i32
  %1 = arith.shrsi %t, %t : tensor<2xi64>
  %2 = arith.shrsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_maxsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.maxsi %a, %b : i32
  %1 = arith.maxsi %t, %t : tensor<2xi64>
  %2 = arith.maxsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_maxui(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.maxui %a, %b : i32
  %1 = arith.maxui %t, %t : tensor<2xi64>
  %2 = arith.maxui %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_minsi(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.minsi %a, %b : i32
  %1 = arith.minsi %t, %t : tensor<2xi64>
  %2 = arith.minsi %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_minui(%a: i32, %b: i32, %t: tensor<2xi64>, %i: index) {
  %0 = arith.minui %a, %b : i32
  %1 = arith.minui %t, %t : tensor<2xi64>
  %2 = arith.minui %i, %i {foo = 1 : i32} : index
  return
}

func.func @arith_ovf_addi(%a: i32) {
  %0 = arith.addi %a, %a overflow<nsw> : i32
  %1 = arith.addi %a, %a overflow<nsw, nuw> : i32
  return
}

func.func @arith_ovf_subi(%a: i32) {
  %0 = arith.subi %a, %a overflow<nsw> : i32
  %1 = arith.subi %a, %a overflow<nsw, nuw> : i32
  return
}

func.func @arith_ovf_muli(%a: i32) {
  %0 = arith.muli %a, %a overflow<nsw> : i32
  %1 = arith.muli %a, %a overflow<nsw, nuw> : i32
  return
}

func.func @arith_ovf_shli(%a: i32) {
  %0 = arith.shli %a, %a overflow<nsw> : i32
  %1 = arith.shli %a, %a overflow<nsw, nuw> : i32
  return
}

func.func @arith_addf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.addf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_subf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.subf %a, %a : f32
  %1 = arith.subf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.subf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_mulf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.mulf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.mulf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_divf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.divf %a, %a : f32
  %1 = arith.divf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.divf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_remf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.remf %a, %a : f32
  %1 = arith.remf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.remf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_maximumf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.maximumf %a, %a : f32
  %1 = arith.maximumf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.maximumf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_minimumf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.minimumf %a, %a : f32
  %1 = arith.minimumf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.minimumf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_maxnumf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.maxnumf %a, %a : f32
  %1 = arith.maxnumf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.maxnumf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_minnumf(%a: f32, %t: tensor<2xbf16>) {
  %0 = arith.minnumf %a, %a : f32
  %1 = arith.minnumf %t, %t fastmath<fast> : tensor<2xbf16>
  %2 = arith.minnumf %a, %a fastmath<nnan,contract> : f32
  return
}

func.func @arith_negf(%a: f32) {
  %0 = arith.negf %a : f32
  %1 = arith.negf %a fastmath<contract> : f32
  return
}

func.func @arith_addui_extended(%a: i32) {
  %0:2 = arith.addui_extended %a, %a : i32, i1
  return
}

func.func @arith_mulsi_extended(%a: i32) {
  %0:2 = arith.mulsi_extended %a, %a : i32
  return
}

func.func @arith_mului_extended(%a: i32) {
  %0:2 = arith.mului_extended %a, %a : i32
  return
}

func.func @arith_casts(%a: i32, %f: f32, %d: f64, %h: f16, %w: i64, %i: index, %b: bf16) {
  %0 = arith.extui %a : i32 to i64
  %1 = arith.extsi %a : i32 to i64
  %2 = arith.extf %h : f16 to f32
  %3 = arith.trunci %w : i64 to i32
  %4 = arith.truncf %d : f64 to f32
  %5 = arith.uitofp %a : i32 to f32
  %6 = arith.sitofp %a : i32 to f32
  %7 = arith.fptoui %f : f32 to i32
  %8 = arith.fptosi %f : f32 to i32
  %9 = arith.index_cast %i : index to i32
  %10 = arith.index_castui %i : index to i32
  %11 = arith.bitcast %f : f32 to i32
  %12 = arith.truncf %d fastmath<contract> : f64 to f32
  %13 = arith.extf %h fastmath<contract> : f16 to f32
  %14 = arith.truncf %d to_nearest_even : f64 to f32
  %15 = arith.extui %a nneg : i32 to i64
  %16 = arith.uitofp %a nneg : i32 to f32
  %17 = arith.truncf %f to_nearest_even fastmath<contract> : f32 to bf16
  %18 = arith.trunci %w overflow<nsw> : i64 to i32
  return
}

func.func @arith_exact(%a: i32) {
  %0 = arith.divsi %a, %a exact : i32
  %1 = arith.divui %a, %a exact : i32
  %2 = arith.shrsi %a, %a exact : i32
  %3 = arith.shrui %a, %a exact : i32
  return
}

func.func @arith_index_castui_nneg(%i: i32) {
  %0 = arith.index_castui %i nneg : i32 to index
  return
}

func.func @arith_convertf(%a: f16) {
  %0 = arith.convertf %a : f16 to bf16
  return
}

func.func @arith_cmpi_eq(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi eq, %a, %a : i32
  %1 = arith.cmpi eq, %t, %t : tensor<3xi8>
  %2 = arith.cmpi eq, %i, %i : index
  return
}

func.func @arith_cmpi_ne(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi ne, %a, %a : i32
  %1 = arith.cmpi ne, %t, %t : tensor<3xi8>
  %2 = arith.cmpi ne, %i, %i : index
  return
}

func.func @arith_cmpi_slt(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi slt, %a, %a : i32
  %1 = arith.cmpi slt, %t, %t : tensor<3xi8>
  %2 = arith.cmpi slt, %i, %i : index
  return
}

func.func @arith_cmpi_sle(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi sle, %a, %a : i32
  %1 = arith.cmpi sle, %t, %t : tensor<3xi8>
  %2 = arith.cmpi sle, %i, %i : index
  return
}

func.func @arith_cmpi_sgt(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi sgt, %a, %a : i32
  %1 = arith.cmpi sgt, %t, %t : tensor<3xi8>
  %2 = arith.cmpi sgt, %i, %i : index
  return
}

func.func @arith_cmpi_sge(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi sge, %a, %a : i32
  %1 = arith.cmpi sge, %t, %t : tensor<3xi8>
  %2 = arith.cmpi sge, %i, %i : index
  return
}

func.func @arith_cmpi_ult(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi ult, %a, %a : i32
  %1 = arith.cmpi ult, %t, %t : tensor<3xi8>
  %2 = arith.cmpi ult, %i, %i : index
  return
}

func.func @arith_cmpi_ule(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi ule, %a, %a : i32
  %1 = arith.cmpi ule, %t, %t : tensor<3xi8>
  %2 = arith.cmpi ule, %i, %i : index
  return
}

func.func @arith_cmpi_ugt(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi ugt, %a, %a : i32
  %1 = arith.cmpi ugt, %t, %t : tensor<3xi8>
  %2 = arith.cmpi ugt, %i, %i : index
  return
}

func.func @arith_cmpi_uge(%a: i32, %t: tensor<3xi8>, %i: index) {
  %0 = arith.cmpi uge, %a, %a : i32
  %1 = arith.cmpi uge, %t, %t : tensor<3xi8>
  %2 = arith.cmpi uge, %i, %i : index
  return
}

func.func @arith_cmpf_false(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf false, %a, %a : f32
  %1 = arith.cmpf false, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_oeq(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf oeq, %a, %a : f32
  %1 = arith.cmpf oeq, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ogt(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ogt, %a, %a : f32
  %1 = arith.cmpf ogt, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_oge(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf oge, %a, %a : f32
  %1 = arith.cmpf oge, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_olt(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf olt, %a, %a : f32
  %1 = arith.cmpf olt, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ole(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ole, %a, %a : f32
  %1 = arith.cmpf ole, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_one(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf one, %a, %a : f32
  %1 = arith.cmpf one, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ord(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ord, %a, %a : f32
  %1 = arith.cmpf ord, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ueq(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ueq, %a, %a : f32
  %1 = arith.cmpf ueq, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ugt(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ugt, %a, %a : f32
  %1 = arith.cmpf ugt, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_uge(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf uge, %a, %a : f32
  %1 = arith.cmpf uge, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ult(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ult, %a, %a : f32
  %1 = arith.cmpf ult, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_ule(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf ule, %a, %a : f32
  %1 = arith.cmpf ule, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_une(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf une, %a, %a : f32
  %1 = arith.cmpf une, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_uno(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf uno, %a, %a : f32
  %1 = arith.cmpf uno, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_cmpf_true(%a: f32, %t: tensor<3xf64>) {
  %0 = arith.cmpf true, %a, %a : f32
  %1 = arith.cmpf true, %t, %t fastmath<nnan> : tensor<3xf64>
  return
}

func.func @arith_select(%c: i1, %a: f32, %t: tensor<3xf32>, %m: tensor<3xi1>) {
  %0 = arith.select %c, %a, %a : f32
  %1 = arith.select %c, %t, %t : tensor<3xf32>
  %2 = arith.select %m, %t, %t : tensor<3xi1>, tensor<3xf32>
  return
}

func.func @arith_constant() {
  %0 = arith.constant 1 : i32
  %1 = arith.constant true
  %2 = arith.constant -5 : index
  %3 = arith.constant 1.5 : f32
  %4 = arith.constant 0x7FC00000 : f32
  %5 = arith.constant dense<[1, 2]> : tensor<2xi32>
  %6 = arith.constant dense<0.1> : tensor<2x3xbf16>
  %7 = arith.constant -1 : i64
  %8 = arith.constant 1.000000e+100 : f64
  %9 = arith.constant dense<> : tensor<0xf32>
  %10 = arith.constant dense<true> : tensor<3xi1>
  %11 = arith.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  %12 = arith.constant {foo} 3 : i8
  %13 = arith.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>
  %14 = arith.constant 1.0e-7 : f16
  %15 = arith.constant 255 : i8
  %16 = arith.constant dense<[0x7F800000, 0xFF800000, 0x7FC00001]> : tensor<3xf32>
  %17 = arith.constant false
  %18 = arith.constant dense<5> : tensor<index>
  %19 = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  %20 = arith.constant dense<[255, 128]> : tensor<2xi8>
  return
}
