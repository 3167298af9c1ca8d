// One of each operation of vm that is not an instruction: tests/vm/dialect_programs.py, printed by iree-opt.
"builtin.module"() ({
  "vm.module"() <{sym_name = "m", sym_visibility = "public"}> ({
    "vm.global.i32"() <{is_mutable, sym_name = "g_i32", sym_visibility = "private", type = i32}> : () -> ()
    "vm.global.i64"() <{is_mutable, sym_name = "g_i64", sym_visibility = "private", type = i64}> : () -> ()
    "vm.global.f32"() <{is_mutable, sym_name = "g_f32", sym_visibility = "private", type = f32}> : () -> ()
    "vm.global.f64"() <{is_mutable, sym_name = "g_f64", sym_visibility = "private", type = f64}> : () -> ()
    "vm.global.ref"() <{is_mutable, sym_name = "g_ref", sym_visibility = "private", type = !vm.buffer}> : () -> ()
    "vm.global.i32"() <{initial_value = -5 : i32, is_mutable, sym_name = "set_i32", sym_visibility = "private", type = i32}> : () -> ()
    "vm.global.i64"() <{initial_value = 12345678901 : i64, is_mutable, sym_name = "set_i64", sym_visibility = "private", type = i64}> : () -> ()
    "vm.global.f32"() <{initial_value = 5.000000e-01 : f32, is_mutable, sym_name = "set_f32", sym_visibility = "private", type = f32}> : () -> ()
    "vm.global.f64"() <{is_mutable, sym_name = "set_f64", sym_visibility = "private", type = f64}> : () -> ()
    "vm.initializer"() <{function_type = () -> ()}> ({
      %84 = "vm.const.f64"() <{value = 2.500000e+00 : f64}> : () -> f64
      "vm.br"(%84)[^bb1] : (f64) -> ()
    ^bb1(%85: f64):  // pred: ^bb0
      "vm.global.store.f64"(%85) <{global = @set_f64}> : (f64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.initializer"() <{function_type = () -> ()}> ({
      %82 = "vm.global.load.f64"() <{global = @set_f64}> : () -> f64
      %83 = "vm.add.f64"(%82, %82) : (f64, f64) -> f64
      "vm.global.store.f64"(%83) <{global = @set_f64}> : (f64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_i32_s", function_ref = @cmp_gt_i32_s}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "cmp_gt_i32_s"}> ({
    ^bb0(%arg99: i32, %arg100: i32):
      %81 = "vm.cmp.gt.i32.s"(%arg99, %arg100) : (i32, i32) -> i32
      "vm.return"(%81) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_i32_u", function_ref = @cmp_gt_i32_u}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "cmp_gt_i32_u"}> ({
    ^bb0(%arg97: i32, %arg98: i32):
      %80 = "vm.cmp.gt.i32.u"(%arg97, %arg98) : (i32, i32) -> i32
      "vm.return"(%80) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_i32_s", function_ref = @cmp_gte_i32_s}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "cmp_gte_i32_s"}> ({
    ^bb0(%arg95: i32, %arg96: i32):
      %79 = "vm.cmp.gte.i32.s"(%arg95, %arg96) : (i32, i32) -> i32
      "vm.return"(%79) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_i32_u", function_ref = @cmp_gte_i32_u}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "cmp_gte_i32_u"}> ({
    ^bb0(%arg93: i32, %arg94: i32):
      %78 = "vm.cmp.gte.i32.u"(%arg93, %arg94) : (i32, i32) -> i32
      "vm.return"(%78) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_lte_i32_s", function_ref = @cmp_lte_i32_s}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "cmp_lte_i32_s"}> ({
    ^bb0(%arg91: i32, %arg92: i32):
      %77 = "vm.cmp.lte.i32.s"(%arg91, %arg92) : (i32, i32) -> i32
      "vm.return"(%77) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_lte_i32_u", function_ref = @cmp_lte_i32_u}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "cmp_lte_i32_u"}> ({
    ^bb0(%arg89: i32, %arg90: i32):
      %76 = "vm.cmp.lte.i32.u"(%arg89, %arg90) : (i32, i32) -> i32
      "vm.return"(%76) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_i64_s", function_ref = @cmp_gt_i64_s}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> i32, sym_name = "cmp_gt_i64_s"}> ({
    ^bb0(%arg87: i64, %arg88: i64):
      %75 = "vm.cmp.gt.i64.s"(%arg87, %arg88) : (i64, i64) -> i32
      "vm.return"(%75) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_i64_u", function_ref = @cmp_gt_i64_u}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> i32, sym_name = "cmp_gt_i64_u"}> ({
    ^bb0(%arg85: i64, %arg86: i64):
      %74 = "vm.cmp.gt.i64.u"(%arg85, %arg86) : (i64, i64) -> i32
      "vm.return"(%74) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_i64_s", function_ref = @cmp_gte_i64_s}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> i32, sym_name = "cmp_gte_i64_s"}> ({
    ^bb0(%arg83: i64, %arg84: i64):
      %73 = "vm.cmp.gte.i64.s"(%arg83, %arg84) : (i64, i64) -> i32
      "vm.return"(%73) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_i64_u", function_ref = @cmp_gte_i64_u}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> i32, sym_name = "cmp_gte_i64_u"}> ({
    ^bb0(%arg81: i64, %arg82: i64):
      %72 = "vm.cmp.gte.i64.u"(%arg81, %arg82) : (i64, i64) -> i32
      "vm.return"(%72) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_lte_i64_s", function_ref = @cmp_lte_i64_s}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> i32, sym_name = "cmp_lte_i64_s"}> ({
    ^bb0(%arg79: i64, %arg80: i64):
      %71 = "vm.cmp.lte.i64.s"(%arg79, %arg80) : (i64, i64) -> i32
      "vm.return"(%71) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_lte_i64_u", function_ref = @cmp_lte_i64_u}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> i32, sym_name = "cmp_lte_i64_u"}> ({
    ^bb0(%arg77: i64, %arg78: i64):
      %70 = "vm.cmp.lte.i64.u"(%arg77, %arg78) : (i64, i64) -> i32
      "vm.return"(%70) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_f32_o", function_ref = @cmp_gt_f32_o}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> i32, sym_name = "cmp_gt_f32_o"}> ({
    ^bb0(%arg75: f32, %arg76: f32):
      %69 = "vm.cmp.gt.f32.o"(%arg75, %arg76) : (f32, f32) -> i32
      "vm.return"(%69) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_f32_u", function_ref = @cmp_gt_f32_u}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> i32, sym_name = "cmp_gt_f32_u"}> ({
    ^bb0(%arg73: f32, %arg74: f32):
      %68 = "vm.cmp.gt.f32.u"(%arg73, %arg74) : (f32, f32) -> i32
      "vm.return"(%68) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_f32_o", function_ref = @cmp_gte_f32_o}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> i32, sym_name = "cmp_gte_f32_o"}> ({
    ^bb0(%arg71: f32, %arg72: f32):
      %67 = "vm.cmp.gte.f32.o"(%arg71, %arg72) : (f32, f32) -> i32
      "vm.return"(%67) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_f32_u", function_ref = @cmp_gte_f32_u}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> i32, sym_name = "cmp_gte_f32_u"}> ({
    ^bb0(%arg69: f32, %arg70: f32):
      %66 = "vm.cmp.gte.f32.u"(%arg69, %arg70) : (f32, f32) -> i32
      "vm.return"(%66) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_eq_f32_near", function_ref = @cmp_eq_f32_near}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> i32, sym_name = "cmp_eq_f32_near"}> ({
    ^bb0(%arg67: f32, %arg68: f32):
      %65 = "vm.cmp.eq.f32.near"(%arg67, %arg68) : (f32, f32) -> i32
      "vm.return"(%65) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_nz_f32_o", function_ref = @cmp_nz_f32_o}> : () -> ()
    "vm.func"() <{function_type = (f32) -> i32, sym_name = "cmp_nz_f32_o"}> ({
    ^bb0(%arg66: f32):
      %64 = "vm.cmp.nz.f32.o"(%arg66) : (f32) -> i32
      "vm.return"(%64) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_nz_f32_u", function_ref = @cmp_nz_f32_u}> : () -> ()
    "vm.func"() <{function_type = (f32) -> i32, sym_name = "cmp_nz_f32_u"}> ({
    ^bb0(%arg65: f32):
      %63 = "vm.cmp.nz.f32.u"(%arg65) : (f32) -> i32
      "vm.return"(%63) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "fpowi_f32", function_ref = @fpowi_f32}> : () -> ()
    "vm.func"() <{function_type = (f32, i64) -> f32, sym_name = "fpowi_f32"}> ({
    ^bb0(%arg63: f32, %arg64: i64):
      %62 = "vm.fpowi.f32"(%arg63, %arg64) : (f32, i64) -> f32
      "vm.return"(%62) : (f32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_f64_o", function_ref = @cmp_gt_f64_o}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> i32, sym_name = "cmp_gt_f64_o"}> ({
    ^bb0(%arg61: f64, %arg62: f64):
      %61 = "vm.cmp.gt.f64.o"(%arg61, %arg62) : (f64, f64) -> i32
      "vm.return"(%61) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gt_f64_u", function_ref = @cmp_gt_f64_u}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> i32, sym_name = "cmp_gt_f64_u"}> ({
    ^bb0(%arg59: f64, %arg60: f64):
      %60 = "vm.cmp.gt.f64.u"(%arg59, %arg60) : (f64, f64) -> i32
      "vm.return"(%60) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_f64_o", function_ref = @cmp_gte_f64_o}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> i32, sym_name = "cmp_gte_f64_o"}> ({
    ^bb0(%arg57: f64, %arg58: f64):
      %59 = "vm.cmp.gte.f64.o"(%arg57, %arg58) : (f64, f64) -> i32
      "vm.return"(%59) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_gte_f64_u", function_ref = @cmp_gte_f64_u}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> i32, sym_name = "cmp_gte_f64_u"}> ({
    ^bb0(%arg55: f64, %arg56: f64):
      %58 = "vm.cmp.gte.f64.u"(%arg55, %arg56) : (f64, f64) -> i32
      "vm.return"(%58) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_eq_f64_near", function_ref = @cmp_eq_f64_near}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> i32, sym_name = "cmp_eq_f64_near"}> ({
    ^bb0(%arg53: f64, %arg54: f64):
      %57 = "vm.cmp.eq.f64.near"(%arg53, %arg54) : (f64, f64) -> i32
      "vm.return"(%57) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_nz_f64_o", function_ref = @cmp_nz_f64_o}> : () -> ()
    "vm.func"() <{function_type = (f64) -> i32, sym_name = "cmp_nz_f64_o"}> ({
    ^bb0(%arg52: f64):
      %56 = "vm.cmp.nz.f64.o"(%arg52) : (f64) -> i32
      "vm.return"(%56) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cmp_nz_f64_u", function_ref = @cmp_nz_f64_u}> : () -> ()
    "vm.func"() <{function_type = (f64) -> i32, sym_name = "cmp_nz_f64_u"}> ({
    ^bb0(%arg51: f64):
      %55 = "vm.cmp.nz.f64.u"(%arg51) : (f64) -> i32
      "vm.return"(%55) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "fpowi_f64", function_ref = @fpowi_f64}> : () -> ()
    "vm.func"() <{function_type = (f64, i64) -> f64, sym_name = "fpowi_f64"}> ({
    ^bb0(%arg49: f64, %arg50: i64):
      %54 = "vm.fpowi.f64"(%arg49, %arg50) : (f64, i64) -> f64
      "vm.return"(%54) : (f64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "ext_i8_i64_s", function_ref = @ext_i8_i64_s}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i64, sym_name = "ext_i8_i64_s"}> ({
    ^bb0(%arg48: i32):
      %53 = "vm.ext.i8.i64.s"(%arg48) : (i32) -> i64
      "vm.return"(%53) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "ext_i8_i64_u", function_ref = @ext_i8_i64_u}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i64, sym_name = "ext_i8_i64_u"}> ({
    ^bb0(%arg47: i32):
      %52 = "vm.ext.i8.i64.u"(%arg47) : (i32) -> i64
      "vm.return"(%52) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "ext_i16_i64_s", function_ref = @ext_i16_i64_s}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i64, sym_name = "ext_i16_i64_s"}> ({
    ^bb0(%arg46: i32):
      %51 = "vm.ext.i16.i64.s"(%arg46) : (i32) -> i64
      "vm.return"(%51) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "ext_i16_i64_u", function_ref = @ext_i16_i64_u}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i64, sym_name = "ext_i16_i64_u"}> ({
    ^bb0(%arg45: i32):
      %50 = "vm.ext.i16.i64.u"(%arg45) : (i32) -> i64
      "vm.return"(%50) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "trunc_i16_i8", function_ref = @trunc_i16_i8}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "trunc_i16_i8"}> ({
    ^bb0(%arg44: i32):
      %49 = "vm.trunc.i16.i8"(%arg44) : (i32) -> i32
      "vm.return"(%49) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "trunc_i64_i8", function_ref = @trunc_i64_i8}> : () -> ()
    "vm.func"() <{function_type = (i64) -> i32, sym_name = "trunc_i64_i8"}> ({
    ^bb0(%arg43: i64):
      %48 = "vm.trunc.i64.i8"(%arg43) : (i64) -> i32
      "vm.return"(%48) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "trunc_i64_i16", function_ref = @trunc_i64_i16}> : () -> ()
    "vm.func"() <{function_type = (i64) -> i32, sym_name = "trunc_i64_i16"}> ({
    ^bb0(%arg42: i64):
      %47 = "vm.trunc.i64.i16"(%arg42) : (i64) -> i32
      "vm.return"(%47) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "optimization_barrier", function_ref = @optimization_barrier}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "optimization_barrier"}> ({
    ^bb0(%arg41: i32):
      %46 = "vm.optimization_barrier"(%arg41) : (i32) -> i32
      "vm.return"(%46) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_eq_i32", function_ref = @check_eq_i32}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> (), sym_name = "check_eq_i32"}> ({
    ^bb0(%arg39: i32, %arg40: i32):
      "vm.check.eq"(%arg39, %arg40) <{message = "eq fails"}> : (i32, i32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_eq_i64", function_ref = @check_eq_i64}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> (), sym_name = "check_eq_i64"}> ({
    ^bb0(%arg37: i64, %arg38: i64):
      "vm.check.eq"(%arg37, %arg38) <{message = "eq fails"}> : (i64, i64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_eq_f32", function_ref = @check_eq_f32}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> (), sym_name = "check_eq_f32"}> ({
    ^bb0(%arg35: f32, %arg36: f32):
      "vm.check.eq"(%arg35, %arg36) <{message = "eq fails"}> : (f32, f32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_eq_f64", function_ref = @check_eq_f64}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> (), sym_name = "check_eq_f64"}> ({
    ^bb0(%arg33: f64, %arg34: f64):
      "vm.check.eq"(%arg33, %arg34) <{message = "eq fails"}> : (f64, f64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_ne_i32", function_ref = @check_ne_i32}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> (), sym_name = "check_ne_i32"}> ({
    ^bb0(%arg31: i32, %arg32: i32):
      "vm.check.ne"(%arg31, %arg32) <{message = "ne fails"}> : (i32, i32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_ne_i64", function_ref = @check_ne_i64}> : () -> ()
    "vm.func"() <{function_type = (i64, i64) -> (), sym_name = "check_ne_i64"}> ({
    ^bb0(%arg29: i64, %arg30: i64):
      "vm.check.ne"(%arg29, %arg30) <{message = "ne fails"}> : (i64, i64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_ne_f32", function_ref = @check_ne_f32}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> (), sym_name = "check_ne_f32"}> ({
    ^bb0(%arg27: f32, %arg28: f32):
      "vm.check.ne"(%arg27, %arg28) <{message = "ne fails"}> : (f32, f32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_ne_f64", function_ref = @check_ne_f64}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> (), sym_name = "check_ne_f64"}> ({
    ^bb0(%arg25: f64, %arg26: f64):
      "vm.check.ne"(%arg25, %arg26) <{message = "ne fails"}> : (f64, f64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_nz_i32", function_ref = @check_nz_i32}> : () -> ()
    "vm.func"() <{function_type = (i32) -> (), sym_name = "check_nz_i32"}> ({
    ^bb0(%arg24: i32):
      "vm.check.nz"(%arg24) <{message = "is zero"}> : (i32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_nz_i64", function_ref = @check_nz_i64}> : () -> ()
    "vm.func"() <{function_type = (i64) -> (), sym_name = "check_nz_i64"}> ({
    ^bb0(%arg23: i64):
      "vm.check.nz"(%arg23) <{message = "is zero"}> : (i64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_nz_f32", function_ref = @check_nz_f32}> : () -> ()
    "vm.func"() <{function_type = (f32) -> (), sym_name = "check_nz_f32"}> ({
    ^bb0(%arg22: f32):
      "vm.check.nz"(%arg22) <{message = "is zero"}> : (f32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_nearly_eq_f32", function_ref = @check_nearly_eq_f32}> : () -> ()
    "vm.func"() <{function_type = (f32, f32) -> (), sym_name = "check_nearly_eq_f32"}> ({
    ^bb0(%arg20: f32, %arg21: f32):
      "vm.check.nearly_eq"(%arg20, %arg21) <{message = "too far"}> : (f32, f32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "check_nearly_eq_f64", function_ref = @check_nearly_eq_f64}> : () -> ()
    "vm.func"() <{function_type = (f64, f64) -> (), sym_name = "check_nearly_eq_f64"}> ({
    ^bb0(%arg18: f64, %arg19: f64):
      "vm.check.nearly_eq"(%arg18, %arg19) <{message = "too far"}> : (f64, f64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cond_fail", function_ref = @cond_fail}> : () -> ()
    "vm.func"() <{function_type = (i32) -> (), sym_name = "cond_fail"}> ({
    ^bb0(%arg17: i32):
      %45 = "vm.const.i32"() <{value = 3 : i32}> : () -> i32
      "vm.cond_fail"(%arg17, %45) <{message = "bad"}> : (i32, i32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cond_fail_status", function_ref = @cond_fail_status}> : () -> ()
    "vm.func"() <{function_type = (i32) -> (), sym_name = "cond_fail_status"}> ({
    ^bb0(%arg16: i32):
      %43 = "vm.const.i32"() <{value = 15 : i32}> : () -> i32
      %44 = "vm.and.i32"(%arg16, %43) : (i32, i32) -> i32
      "vm.cond_fail"(%44, %44) <{message = "bad"}> : (i32, i32) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "yield", function_ref = @yield}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "yield"}> ({
    ^bb0(%arg15: i32):
      "vm.yield"(%arg15)[^bb1] : (i32) -> ()
    ^bb1(%42: i32):  // pred: ^bb0
      "vm.return"(%42) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "break", function_ref = @break}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "break"}> ({
    ^bb0(%arg14: i32):
      "vm.break"(%arg14)[^bb1] : (i32) -> ()
    ^bb1(%41: i32):  // pred: ^bb0
      "vm.return"(%41) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cond_break", function_ref = @cond_break}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "cond_break"}> ({
    ^bb0(%arg13: i32):
      "vm.cond_break"(%arg13, %arg13)[^bb1] : (i32, i32) -> ()
    ^bb1(%40: i32):  // pred: ^bb0
      "vm.return"(%40) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "br_table", function_ref = @br_table}> : () -> ()
    "vm.func"() <{function_type = (i32, i32) -> i32, sym_name = "br_table"}> ({
    ^bb0(%arg11: i32, %arg12: i32):
      "vm.br_table"(%arg11, %arg12, %arg11, %arg11)[^bb1, ^bb1, ^bb2, ^bb1] <{case_operand_segments = array<i32: 1, 0, 1>, operandSegmentSizes = array<i32: 1, 1, 2>}> : (i32, i32, i32, i32) -> ()
    ^bb1(%38: i32):  // 3 preds: ^bb0, ^bb0, ^bb0
      "vm.return"(%38) : (i32) -> ()
    ^bb2:  // pred: ^bb0
      %39 = "vm.const.i32"() <{value = 77 : i32}> : () -> i32
      "vm.return"(%39) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "br_table_refs", function_ref = @br_table_refs}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i64, sym_name = "br_table_refs"}> ({
    ^bb0(%arg10: i32):
      %27 = "vm.const.i64"() <{value = 8 : i64}> : () -> i64
      %28 = "vm.const.i32"() <{value = 16 : i32}> : () -> i32
      %29 = "vm.buffer.alloc"(%27, %28) : (i64, i32) -> !vm.buffer
      %30 = "vm.rodata.inline"() <{value = "four"}> : () -> !vm.buffer
      "vm.br_table"(%arg10, %29, %30)[^bb1, ^bb1, ^bb2] <{case_operand_segments = array<i32: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, !vm.buffer, !vm.buffer) -> ()
    ^bb1(%31: !vm.buffer):  // 2 preds: ^bb0, ^bb0
      %32 = "vm.buffer.length"(%31) : (!vm.buffer) -> i64
      "vm.return"(%32) : (i64) -> ()
    ^bb2:  // pred: ^bb0
      %33 = "vm.buffer.length"(%29) : (!vm.buffer) -> i64
      "vm.yield"(%30, %33)[^bb3] : (!vm.buffer, i64) -> ()
    ^bb3(%34: !vm.buffer, %35: i64):  // pred: ^bb2
      %36 = "vm.buffer.length"(%34) : (!vm.buffer) -> i64
      %37 = "vm.add.i64"(%35, %36) : (i64, i64) -> i64
      "vm.return"(%37) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "trace", function_ref = @trace}> : () -> ()
    "vm.func"() <{function_type = (i32, i64) -> (), sym_name = "trace"}> ({
    ^bb0(%arg8: i32, %arg9: i64):
      "vm.trace"(%arg8, %arg9) <{event_name = "event"}> : (i32, i64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "print", function_ref = @print}> : () -> ()
    "vm.func"() <{function_type = (i32, i64) -> (), sym_name = "print"}> ({
    ^bb0(%arg6: i32, %arg7: i64):
      "vm.print"(%arg6, %arg7) <{message = "event"}> : (i32, i64) -> ()
      "vm.return"() : () -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "global_i32", function_ref = @global_i32}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "global_i32"}> ({
    ^bb0(%arg5: i32):
      %25 = "vm.global.address"() <{global = @g_i32}> : () -> !util.ptr<i32>
      "vm.global.store.indirect.i32"(%arg5, %25) : (i32, !util.ptr<i32>) -> ()
      %26 = "vm.global.load.indirect.i32"(%25) : (!util.ptr<i32>) -> i32
      "vm.return"(%26) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "initial_i32", function_ref = @initial_i32}> : () -> ()
    "vm.func"() <{function_type = () -> i32, sym_name = "initial_i32"}> ({
      %24 = "vm.global.load.i32"() <{global = @set_i32}> : () -> i32
      "vm.return"(%24) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "global_i64", function_ref = @global_i64}> : () -> ()
    "vm.func"() <{function_type = (i64) -> i64, sym_name = "global_i64"}> ({
    ^bb0(%arg4: i64):
      %22 = "vm.global.address"() <{global = @g_i64}> : () -> !util.ptr<i64>
      "vm.global.store.indirect.i64"(%arg4, %22) : (i64, !util.ptr<i64>) -> ()
      %23 = "vm.global.load.indirect.i64"(%22) : (!util.ptr<i64>) -> i64
      "vm.return"(%23) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "initial_i64", function_ref = @initial_i64}> : () -> ()
    "vm.func"() <{function_type = () -> i64, sym_name = "initial_i64"}> ({
      %21 = "vm.global.load.i64"() <{global = @set_i64}> : () -> i64
      "vm.return"(%21) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "global_f32", function_ref = @global_f32}> : () -> ()
    "vm.func"() <{function_type = (f32) -> f32, sym_name = "global_f32"}> ({
    ^bb0(%arg3: f32):
      %19 = "vm.global.address"() <{global = @g_f32}> : () -> !util.ptr<f32>
      "vm.global.store.indirect.f32"(%arg3, %19) : (f32, !util.ptr<f32>) -> ()
      %20 = "vm.global.load.indirect.f32"(%19) : (!util.ptr<f32>) -> f32
      "vm.return"(%20) : (f32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "initial_f32", function_ref = @initial_f32}> : () -> ()
    "vm.func"() <{function_type = () -> f32, sym_name = "initial_f32"}> ({
      %18 = "vm.global.load.f32"() <{global = @set_f32}> : () -> f32
      "vm.return"(%18) : (f32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "global_f64", function_ref = @global_f64}> : () -> ()
    "vm.func"() <{function_type = (f64) -> f64, sym_name = "global_f64"}> ({
    ^bb0(%arg2: f64):
      %16 = "vm.global.address"() <{global = @g_f64}> : () -> !util.ptr<f64>
      "vm.global.store.indirect.f64"(%arg2, %16) : (f64, !util.ptr<f64>) -> ()
      %17 = "vm.global.load.indirect.f64"(%16) : (!util.ptr<f64>) -> f64
      "vm.return"(%17) : (f64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "initial_f64", function_ref = @initial_f64}> : () -> ()
    "vm.func"() <{function_type = () -> f64, sym_name = "initial_f64"}> ({
      %15 = "vm.global.load.f64"() <{global = @set_f64}> : () -> f64
      "vm.return"(%15) : (f64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "global_ref", function_ref = @global_ref}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i64, sym_name = "global_ref"}> ({
    ^bb0(%arg1: i32):
      %11 = "vm.rodata.inline"() <{name = "named", value = dense<[1, 2, 3]> : tensor<3xi16>}> : () -> !vm.buffer
      %12 = "vm.global.address"() <{global = @g_ref}> : () -> !util.ptr<!vm.buffer>
      "vm.global.store.indirect.ref"(%11, %12) : (!vm.buffer, !util.ptr<!vm.buffer>) -> ()
      %13 = "vm.global.load.indirect.ref"(%12) : (!util.ptr<!vm.buffer>) -> !vm.buffer
      %14 = "vm.buffer.length"(%13) : (!vm.buffer) -> i64
      "vm.return"(%14) : (i64) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "table", function_ref = @table}> : () -> ()
    "vm.func"() <{function_type = (i32) -> i32, sym_name = "table"}> ({
    ^bb0(%arg0: i32):
      %3:2 = "vm.rodata.table.inline"() <{data_array = ["ab", dense<5> : tensor<3xi8>, "xyz"], table_type = i32}> : () -> (!vm.buffer, !vm.buffer)
      %4 = "vm.const.i32"() <{value = 7 : i32}> : () -> i32
      %5 = "vm.and.i32"(%arg0, %4) : (i32, i32) -> i32
      %6 = "vm.ext.i32.i64.u"(%5) : (i32) -> i64
      %7 = "vm.buffer.load.i8.u"(%3#1, %6) : (!vm.buffer, i64) -> i32
      %8 = "vm.const.i64"() <{value = 5 : i64}> : () -> i64
      %9 = "vm.buffer.load.i32"(%3#0, %8) : (!vm.buffer, i64) -> i32
      %10 = "vm.add.i32"(%7, %9) : (i32, i32) -> i32
      "vm.return"(%10) : (i32) -> ()
    }) : () -> ()
    "vm.export"() <{export_name = "cast_ref_any", function_ref = @cast_ref_any}> : () -> ()
    "vm.func"() <{function_type = () -> i32, sym_name = "cast_ref_any"}> ({
      %0 = "vm.rodata.inline"() <{value = "x"}> : () -> !vm.buffer
      %1 = "vm.cast.ref.any"(%0) : (!vm.buffer) -> !vm.ref<?>
      %2 = "vm.cmp.nz.ref"(%1) : (!vm.ref<?>) -> i32
      "vm.return"(%2) : (i32) -> ()
    }) : () -> ()
    "vm.module_terminator"() : () -> ()
  }) : () -> ()
}) : () -> ()

