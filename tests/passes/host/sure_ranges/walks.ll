; opt=3
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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %14 = load ptr, ptr %13, align 8, !invariant.load !0, !pyptx.field !0
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %16 = load i32, ptr %15, align 4, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %19 = load i32, ptr %18, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %20 = zext nneg i32 %19 to i64
  %21 = zext nneg i32 %bx to i64
  %22 = mul nuw nsw i64 %21, %20
  %23 = zext nneg i32 %tx to i64
  %24 = add nuw nsw i64 %22, %23
  %25 = icmp samesign ult i64 %24, %9
  br i1 %25, label %ok, label %stop, !prof !2

b1.loopexit:                                      ; preds = %b6
  %.lcssa26 = phi i64 [ %81, %b6 ]
  br label %b1

b1:                                               ; preds = %b1.loopexit, %ok9
  %26 = phi i64 [ %97, %ok9 ], [ %.lcssa26, %b1.loopexit ]
  %27 = phi i64 [ %93, %ok9 ], [ %128, %b1.loopexit ]
  %28 = icmp slt i64 %27, %102
  br i1 %28, label %b2, label %b8

b2:                                               ; preds = %b1
  %29 = icmp slt i64 %27, 0
  %30 = select i1 %29, i64 %4, i64 0
  %31 = add i64 %27, %30
  %32 = icmp ult i64 %31, %4
  br i1 %32, label %ok11, label %stop12, !prof !2

all:                                              ; preds = %ok11, %all43
  %33 = phi i64 [ 0, %ok11 ], [ %36, %all43 ]
  %34 = icmp samesign ult i64 %33, %105
  %35 = call i1 @pyptx.all(i1 %34, i1 true)
  br i1 %35, label %all41, label %b3

all41:                                            ; preds = %all
  %36 = add nuw nsw i64 %33, 1
  %37 = add i64 %106, %33
  %38 = icmp slt i64 %37, 0
  %39 = select i1 %38, i64 %4, i64 0
  %40 = add i64 %37, %39
  %41 = icmp ult i64 %40, %4
  br i1 %41, label %all42, label %stop14, !prof !2

all42:                                            ; preds = %all41
  %42 = add i64 %26, %33
  %43 = icmp slt i64 %42, 0
  %44 = select i1 %43, i64 %17, i64 0
  %45 = add i64 %42, %44
  %46 = icmp ult i64 %45, %17
  br i1 %46, label %all43, label %stop16, !prof !2

all43:                                            ; preds = %all42
  %47 = getelementptr inbounds i8, ptr %1, i64 %40
  %48 = load i8, ptr %47, align 1
  %49 = getelementptr inbounds i8, ptr %14, i64 %45
  store i8 %48, ptr %49, align 1
  br label %all

b3:                                               ; preds = %all, %ok15
  %50 = phi i64 [ %33, %all ], [ %52, %ok15 ]
  %51 = icmp samesign ult i64 %50, %105
  br i1 %51, label %b4, label %b5

b4:                                               ; preds = %b3
  %52 = add nuw nsw i64 %50, 1
  %53 = add i64 %106, %50
  %54 = icmp slt i64 %53, 0
  %55 = select i1 %54, i64 %4, i64 0
  %56 = add i64 %53, %55
  %57 = icmp ult i64 %56, %4
  br i1 %57, label %ok13, label %stop14, !prof !2

b5:                                               ; preds = %b3
  %58 = add i64 %106, %105
  %59 = icmp slt i64 %58, 0
  %60 = select i1 %59, i64 %4, i64 0
  %61 = add i64 %58, %60
  %62 = icmp ult i64 %61, %4
  br i1 %62, label %ok17, label %stop18, !prof !2

all44:                                            ; preds = %ok17, %all47
  %63 = phi i64 [ %124, %ok17 ], [ %80, %all47 ]
  %64 = phi i64 [ 0, %ok17 ], [ %67, %all47 ]
  %65 = icmp samesign ult i64 %64, %129
  %66 = call i1 @pyptx.all(i1 %65, i1 true)
  br i1 %66, label %all45, label %b6

all45:                                            ; preds = %all44
  %67 = add nuw nsw i64 %64, 1
  %68 = sub i64 %63, %127
  %69 = icmp slt i64 %68, 0
  %70 = select i1 %69, i64 %17, i64 0
  %71 = add i64 %68, %70
  %72 = icmp ult i64 %71, %17
  br i1 %72, label %all46, label %stop20, !prof !2

all46:                                            ; preds = %all45
  %73 = icmp slt i64 %63, 0
  %74 = select i1 %73, i64 %17, i64 0
  %75 = add i64 %63, %74
  %76 = icmp ult i64 %75, %17
  br i1 %76, label %all47, label %stop22, !prof !2

all47:                                            ; preds = %all46
  %77 = getelementptr inbounds i8, ptr %14, i64 %71
  %78 = load i8, ptr %77, align 1
  %79 = getelementptr inbounds i8, ptr %14, i64 %75
  store i8 %78, ptr %79, align 1
  %80 = add i64 %63, 1
  br label %all44

b6:                                               ; preds = %all44, %ok21
  %81 = phi i64 [ %63, %all44 ], [ %143, %ok21 ]
  %82 = phi i64 [ %64, %all44 ], [ %84, %ok21 ]
  %83 = icmp samesign ult i64 %82, %129
  br i1 %83, label %b7, label %b1.loopexit

b7:                                               ; preds = %b6
  %84 = add nuw nsw i64 %82, 1
  %85 = sub i64 %81, %127
  %86 = icmp slt i64 %85, 0
  %87 = select i1 %86, i64 %17, i64 0
  %88 = add i64 %85, %87
  %89 = icmp ult i64 %88, %17
  br i1 %89, label %ok19, label %stop20, !prof !2

b8:                                               ; preds = %b1
  ret void

ok:                                               ; preds = %entry
  %.not = icmp eq i32 %11, 0
  br i1 %.not, label %stop2, label %ok1, !prof !3

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %24, i64 %9, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %90 = mul nuw nsw i64 %24, %12
  %91 = getelementptr inbounds nuw i32, ptr %6, i64 %90
  %92 = load i32, ptr %91, align 4
  %93 = sext i32 %92 to i64
  %.not23 = icmp eq i32 %11, 1
  br i1 %.not23, label %stop6, label %ok5, !prof !3

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 0, i64 %12, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok1
  %94 = getelementptr inbounds nuw i32, ptr %6, i64 %90
  %95 = getelementptr inbounds nuw i8, ptr %94, i64 4
  %96 = load i32, ptr %95, align 4
  %97 = sext i32 %96 to i64
  %98 = icmp ugt i32 %11, 2
  br i1 %98, label %ok9, label %stop10, !prof !2

stop6:                                            ; preds = %ok1
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 1, i64 %12, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok5
  %99 = getelementptr inbounds nuw i32, ptr %6, i64 %90
  %100 = getelementptr inbounds nuw i8, ptr %99, i64 8
  %101 = load i32, ptr %100, align 4
  %102 = sext i32 %101 to i64
  br label %b1

stop10:                                           ; preds = %ok5
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 2, i64 %12, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %b2
  %103 = getelementptr inbounds i8, ptr %1, i64 %31
  %104 = load i8, ptr %103, align 1
  %105 = zext i8 %104 to i64
  %106 = add i64 %27, 1
  br label %all

stop12:                                           ; preds = %b2
  %.lcssa35 = phi i64 [ %31, %b2 ]
  %107 = icmp slt i64 %.lcssa35, 0
  %108 = select i1 %107, i64 %4, i64 0
  %109 = sub nuw i64 %.lcssa35, %108
  call void @rt_host_trap_in_line(ptr %launch, i32 6, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %109, i64 %4, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %b4
  %110 = add i64 %26, %50
  %111 = icmp slt i64 %110, 0
  %112 = select i1 %111, i64 %17, i64 0
  %113 = add i64 %110, %112
  %114 = icmp ult i64 %113, %17
  br i1 %114, label %ok15, label %stop16, !prof !2

stop14:                                           ; preds = %all41, %b4
  %.lcssa = phi i64 [ %56, %b4 ], [ %40, %all41 ]
  %115 = icmp slt i64 %.lcssa, 0
  %116 = select i1 %115, i64 %4, i64 0
  %117 = sub nuw i64 %.lcssa, %116
  call void @rt_host_trap_in_line(ptr %launch, i32 7, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %117, i64 %4, i64 0, i64 0)
  unreachable

ok15:                                             ; preds = %ok13
  %118 = getelementptr inbounds i8, ptr %1, i64 %56
  %119 = load i8, ptr %118, align 1
  %120 = getelementptr inbounds i8, ptr %14, i64 %113
  store i8 %119, ptr %120, align 1
  br label %b3

stop16:                                           ; preds = %all42, %ok13
  %.lcssa25 = phi i64 [ %113, %ok13 ], [ %45, %all42 ]
  %121 = icmp slt i64 %.lcssa25, 0
  %122 = select i1 %121, i64 %17, i64 0
  %123 = sub nuw i64 %.lcssa25, %122
  call void @rt_host_trap_in_line(ptr %launch, i32 8, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %123, i64 %17, i64 0, i64 0)
  unreachable

ok17:                                             ; preds = %b5
  %124 = add i64 %26, %105
  %125 = getelementptr inbounds i8, ptr %1, i64 %61
  %126 = load i8, ptr %125, align 1
  %127 = zext i8 %126 to i64
  %128 = add i64 %58, 1
  %129 = add nuw nsw i64 %105, 4
  br label %all44

stop18:                                           ; preds = %b5
  %.lcssa32 = phi i64 [ %61, %b5 ]
  %130 = icmp slt i64 %.lcssa32, 0
  %131 = select i1 %130, i64 %4, i64 0
  %132 = sub nuw i64 %.lcssa32, %131
  call void @rt_host_trap_in_line(ptr %launch, i32 9, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %132, i64 %4, i64 0, i64 0)
  unreachable

ok19:                                             ; preds = %b7
  %133 = icmp slt i64 %81, 0
  %134 = select i1 %133, i64 %17, i64 0
  %135 = add i64 %81, %134
  %136 = icmp ult i64 %135, %17
  br i1 %136, label %ok21, label %stop22, !prof !2

stop20:                                           ; preds = %all45, %b7
  %.lcssa29 = phi i64 [ %88, %b7 ], [ %71, %all45 ]
  %137 = icmp slt i64 %.lcssa29, 0
  %138 = select i1 %137, i64 %17, i64 0
  %139 = sub nuw i64 %.lcssa29, %138
  call void @rt_host_trap_in_line(ptr %launch, i32 10, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %139, i64 %17, i64 0, i64 0)
  unreachable

ok21:                                             ; preds = %ok19
  %140 = getelementptr inbounds i8, ptr %14, i64 %88
  %141 = load i8, ptr %140, align 1
  %142 = getelementptr inbounds i8, ptr %14, i64 %135
  store i8 %141, ptr %142, align 1
  %143 = add i64 %81, 1
  br label %b6

stop22:                                           ; preds = %all46, %ok19
  %.lcssa31 = phi i64 [ %135, %ok19 ], [ %75, %all46 ]
  %144 = icmp slt i64 %.lcssa31, 0
  %145 = select i1 %144, i64 %17, i64 0
  %146 = sub nuw i64 %.lcssa31, %145
  call void @rt_host_trap_in_line(ptr %launch, i32 11, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %146, i64 %17, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

declare i1 @pyptx.all(i1, i1)

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
!3 = !{!"branch_weights", i32 1, i32 1048576}
