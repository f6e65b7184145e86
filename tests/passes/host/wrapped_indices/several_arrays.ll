; x[j], y[j] and z[j]: j is compared with the least of their sizes.

define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load ptr, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %16 = load ptr, ptr %15, align 8, !invariant.load !0, !pyptx.field !0
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %18 = load i32, ptr %17, align 4, !invariant.load !0, !pyptx.field !0
  %19 = zext nneg i32 %18 to i64
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %21 = load ptr, ptr %20, align 8, !invariant.load !0, !pyptx.field !0
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %23 = load i32, ptr %22, align 4, !invariant.load !0, !pyptx.field !0
  %24 = zext nneg i32 %23 to i64
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %26 = load ptr, ptr %25, align 8, !invariant.load !0, !pyptx.field !0
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %28 = load i32, ptr %27, align 4, !invariant.load !0, !pyptx.field !0
  %29 = zext nneg i32 %28 to i64
  %30 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %31 = load i32, ptr %30, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %32 = zext nneg i32 %31 to i64
  %33 = zext nneg i32 %bx to i64
  %34 = mul nuw nsw i64 %33, %32
  %35 = zext nneg i32 %tx to i64
  %36 = add nuw nsw i64 %34, %35
  %37 = icmp samesign ult i64 %36, %29
  br i1 %37, label %b1, label %b5

b1:                                               ; preds = %entry
  %38 = icmp samesign ult i64 %36, %4
  br i1 %38, label %ok, label %stop, !prof !2

sure:                                             ; preds = %ok1, %sure27
  %39 = phi double [ 0.000000e+00, %ok1 ], [ %50, %sure27 ]
  %40 = phi i64 [ %99, %ok1 ], [ %64, %sure27 ]
  %41 = icmp slt i64 %40, %100
  br i1 %41, label %sure31, label %b4

sure27:                                           ; preds = %sure28
  %42 = getelementptr inbounds double, ptr %11, i64 %62
  %43 = load double, ptr %42, align 8
  %44 = getelementptr inbounds double, ptr %16, i64 %55
  %45 = load double, ptr %44, align 8
  %46 = fmul contract double %43, %45
  %47 = getelementptr inbounds double, ptr %21, i64 %52
  %48 = load double, ptr %47, align 8
  %49 = fadd contract double %46, %48
  %50 = fadd contract double %39, %49
  br label %sure

sure28:                                           ; preds = %sure29
  %51 = select i1 %60, i64 %24, i64 0
  %52 = add nsw i64 %51, %59
  %53 = icmp ult i64 %52, %24
  br i1 %53, label %sure27, label %sure32, !prof !2

sure29:                                           ; preds = %sure30
  %54 = select i1 %60, i64 %19, i64 0
  %55 = add nsw i64 %54, %59
  %56 = icmp ult i64 %55, %19
  br i1 %56, label %sure28, label %sure33, !prof !2

sure30:                                           ; preds = %sure31
  %57 = getelementptr inbounds i32, ptr %6, i64 %40
  %58 = load i32, ptr %57, align 4
  %59 = sext i32 %58 to i64
  %60 = icmp slt i32 %58, 0
  %61 = select i1 %60, i64 %14, i64 0
  %62 = add nsw i64 %61, %59
  %63 = icmp ult i64 %62, %14
  br i1 %63, label %sure29, label %sure34, !prof !2

sure31:                                           ; preds = %sure
  %64 = add nsw i64 %40, 1
  %65 = icmp slt i64 %40, 0
  %66 = select i1 %65, i64 %9, i64 0
  %67 = add i64 %40, %66
  %68 = icmp ult i64 %40, %9
  br i1 true, label %sure30, label %sure35, !prof !2

sure32:                                           ; preds = %sure28
  %69 = phi i64 [ %52, %sure28 ]
  %70 = icmp slt i64 %69, 0
  %71 = select i1 %70, i64 %24, i64 0
  %72 = sub nuw nsw i64 %69, %71
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %72, i64 %24, i64 0, i64 0)
  unreachable

sure33:                                           ; preds = %sure29
  %73 = phi i64 [ %55, %sure29 ]
  %74 = icmp slt i64 %73, 0
  %75 = select i1 %74, i64 %19, i64 0
  %76 = sub nuw nsw i64 %73, %75
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %76, i64 %19, i64 0, i64 0)
  unreachable

sure34:                                           ; preds = %sure30
  %77 = phi i64 [ %62, %sure30 ]
  %78 = icmp slt i64 %77, 0
  %79 = select i1 %78, i64 %14, i64 0
  %80 = sub nuw nsw i64 %77, %79
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %80, i64 %14, i64 0, i64 0)
  unreachable

sure35:                                           ; preds = %sure31
  %81 = phi i64 [ %40, %sure31 ]
  %82 = icmp slt i64 %81, 0
  %83 = select i1 %82, i64 %9, i64 0
  %84 = sub nuw i64 %81, %83
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %84, i64 %9, i64 0, i64 0)
  unreachable

b2:                                               ; preds = %ok1, %ok9
  %85 = phi double [ 0.000000e+00, %ok1 ], [ %134, %ok9 ]
  %86 = phi i64 [ %99, %ok1 ], [ %88, %ok9 ]
  %87 = icmp slt i64 %86, %100
  br i1 %87, label %b3, label %b4

b3:                                               ; preds = %b2
  %88 = add nsw i64 %86, 1
  %89 = icmp slt i64 %86, 0
  %90 = select i1 %89, i64 %9, i64 0
  %91 = add i64 %86, %90
  %92 = icmp ult i64 %91, %9
  br i1 %92, label %ok3, label %stop4, !prof !2

b4:                                               ; preds = %sure, %b2
  %.lcssa = phi double [ %85, %b2 ], [ %39, %sure ]
  br i1 true, label %ok11, label %stop12, !prof !2

b5:                                               ; preds = %ok11, %entry
  ret void

ok:                                               ; preds = %b1
  %93 = add nuw nsw i64 %36, 1
  %94 = icmp samesign ult i64 %93, %4
  br i1 %94, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %36, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %95 = getelementptr inbounds nuw i32, ptr %1, i64 %36
  %96 = load i32, ptr %95, align 4
  %97 = getelementptr inbounds nuw i32, ptr %1, i64 %93
  %98 = load i32, ptr %97, align 4
  %99 = sext i32 %96 to i64
  %100 = sext i32 %98 to i64
  %101 = icmp sle i64 %100, %9
  %102 = icmp sge i64 %99, 0
  %103 = and i1 %101, %102
  br i1 %103, label %sure, label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %93, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b3
  %104 = getelementptr inbounds i32, ptr %6, i64 %91
  %105 = load i32, ptr %104, align 4
  %106 = sext i32 %105 to i64
  %107 = icmp slt i32 %105, 0
  %108 = select i1 %107, i64 %14, i64 0
  %109 = add nsw i64 %108, %106
  %110 = icmp ult i64 %109, %14
  br i1 %110, label %ok5, label %stop6, !prof !2

stop4:                                            ; preds = %b3
  %.lcssa17 = phi i64 [ %91, %b3 ]
  %111 = icmp slt i64 %.lcssa17, 0
  %112 = select i1 %111, i64 %9, i64 0
  %113 = sub nuw i64 %.lcssa17, %112
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %113, i64 %9, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %114 = select i1 %107, i64 %19, i64 0
  %115 = add nsw i64 %114, %106
  %116 = icmp ult i64 %115, %19
  br i1 %116, label %ok7, label %stop8, !prof !2

stop6:                                            ; preds = %ok3
  %.lcssa21 = phi i64 [ %109, %ok3 ]
  %117 = icmp slt i64 %.lcssa21, 0
  %118 = select i1 %117, i64 %14, i64 0
  %119 = sub nuw nsw i64 %.lcssa21, %118
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %119, i64 %14, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok5
  %120 = select i1 %107, i64 %24, i64 0
  %121 = add nsw i64 %120, %106
  %122 = icmp ult i64 %121, %24
  br i1 %122, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %ok5
  %.lcssa24 = phi i64 [ %115, %ok5 ]
  %123 = icmp slt i64 %.lcssa24, 0
  %124 = select i1 %123, i64 %19, i64 0
  %125 = sub nuw nsw i64 %.lcssa24, %124
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %125, i64 %19, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %126 = getelementptr inbounds double, ptr %11, i64 %109
  %127 = load double, ptr %126, align 8
  %128 = getelementptr inbounds double, ptr %16, i64 %115
  %129 = load double, ptr %128, align 8
  %130 = fmul contract double %127, %129
  %131 = getelementptr inbounds double, ptr %21, i64 %121
  %132 = load double, ptr %131, align 8
  %133 = fadd contract double %130, %132
  %134 = fadd contract double %85, %133
  br label %b2

stop10:                                           ; preds = %ok7
  %.lcssa26 = phi i64 [ %121, %ok7 ]
  %135 = icmp slt i64 %.lcssa26, 0
  %136 = select i1 %135, i64 %24, i64 0
  %137 = sub nuw nsw i64 %.lcssa26, %136
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %137, i64 %24, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %b4
  %138 = getelementptr inbounds nuw double, ptr %26, i64 %36
  store double %.lcssa, ptr %138, align 8
  br label %b5

stop12:                                           ; preds = %b4
  call void @rt_host_trap_in_line(ptr %launch, i32 6, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %36, i64 %29, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
