; opt=3
; Loads at addresses that nothing was loaded for: stores stay.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) noalias align 4 %2, i32 noundef range(i32 0, -2147483648) %3) #0 {
entry:
  %4 = zext nneg i32 %1 to i64
  %5 = zext nneg i32 %3 to i64
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = mul nuw nsw i32 %7, %6
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = add nuw nsw i32 %8, %9
  %11 = ptrtoint ptr addrspace(1) %2 to i64
  %12 = shl nuw nsw i64 %5, 2
  %13 = add i64 %12, %11
  %14 = ptrtoint ptr addrspace(1) %0 to i64
  %15 = shl nuw nsw i64 %4, 2
  %16 = add i64 %15, %14
  %17 = icmp sle i64 %13, %14
  %18 = icmp sle i64 %16, %11
  %19 = or i1 %18, %17
  %.not = icmp eq i32 %1, 0
  br i1 %19, label %b7.preheader, label %b1.preheader

b1.preheader:                                     ; preds = %entry
  br i1 %.not, label %b3, label %b2

b7.preheader:                                     ; preds = %entry
  br i1 %.not, label %b3, label %b8.preheader

b8.preheader:                                     ; preds = %b7.preheader
  %xtraiter = and i32 %1, 7
  %20 = icmp samesign ult i32 %1, 8
  br i1 %20, label %b8.epil.preheader, label %b8.preheader.new

b8.preheader.new:                                 ; preds = %b8.preheader
  %unroll_iter = and i32 %1, 2147483640
  br label %b8

b8:                                               ; preds = %b8, %b8.preheader.new
  %21 = phi i32 [ 0, %b8.preheader.new ], [ %106, %b8 ]
  %niter = phi i32 [ 0, %b8.preheader.new ], [ %niter.next.7, %b8 ]
  %22 = sext i32 %21 to i64
  %23 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %22
  %24 = load i32, ptr addrspace(1) %23, align 4, !llvm.mem.parallel_loop_access !0
  %25 = and i32 %24, 1023
  %26 = sext i32 %25 to i64
  %27 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %26
  %28 = load i32, ptr addrspace(1) %27, align 4, !llvm.mem.parallel_loop_access !0
  %29 = or disjoint i32 %21, 1
  %30 = sext i32 %29 to i64
  %31 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %30
  %32 = load i32, ptr addrspace(1) %31, align 4, !llvm.mem.parallel_loop_access !0
  %33 = and i32 %32, 1023
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %34
  %36 = load i32, ptr addrspace(1) %35, align 4, !llvm.mem.parallel_loop_access !0
  %37 = or disjoint i32 %21, 2
  %38 = sext i32 %37 to i64
  %39 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %38
  %40 = load i32, ptr addrspace(1) %39, align 4, !llvm.mem.parallel_loop_access !0
  %41 = and i32 %40, 1023
  %42 = sext i32 %41 to i64
  %43 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %42
  %44 = load i32, ptr addrspace(1) %43, align 4, !llvm.mem.parallel_loop_access !0
  %45 = or disjoint i32 %21, 3
  %46 = sext i32 %45 to i64
  %47 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %46
  %48 = load i32, ptr addrspace(1) %47, align 4, !llvm.mem.parallel_loop_access !0
  %49 = and i32 %48, 1023
  %50 = sext i32 %49 to i64
  %51 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %50
  %52 = load i32, ptr addrspace(1) %51, align 4, !llvm.mem.parallel_loop_access !0
  %53 = add nuw nsw i32 %21, %10
  %54 = sext i32 %53 to i64
  %55 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %54
  store i32 %28, ptr addrspace(1) %55, align 4, !llvm.mem.parallel_loop_access !0
  %56 = add nuw nsw i32 %29, %10
  %57 = sext i32 %56 to i64
  %58 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %57
  store i32 %36, ptr addrspace(1) %58, align 4, !llvm.mem.parallel_loop_access !0
  %59 = add nuw nsw i32 %37, %10
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %60
  store i32 %44, ptr addrspace(1) %61, align 4, !llvm.mem.parallel_loop_access !0
  %62 = or disjoint i32 %21, 4
  %63 = add nuw nsw i32 %45, %10
  %64 = sext i32 %63 to i64
  %65 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %64
  store i32 %52, ptr addrspace(1) %65, align 4, !llvm.mem.parallel_loop_access !0
  %66 = or disjoint i32 %21, 5
  %67 = sext i32 %62 to i64
  %68 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %67
  %69 = load i32, ptr addrspace(1) %68, align 4, !llvm.mem.parallel_loop_access !0
  %70 = and i32 %69, 1023
  %71 = sext i32 %70 to i64
  %72 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %71
  %73 = load i32, ptr addrspace(1) %72, align 4, !llvm.mem.parallel_loop_access !0
  %74 = sext i32 %66 to i64
  %75 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %74
  %76 = load i32, ptr addrspace(1) %75, align 4, !llvm.mem.parallel_loop_access !0
  %77 = and i32 %76, 1023
  %78 = sext i32 %77 to i64
  %79 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %78
  %80 = load i32, ptr addrspace(1) %79, align 4, !llvm.mem.parallel_loop_access !0
  %81 = or disjoint i32 %21, 6
  %82 = sext i32 %81 to i64
  %83 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %82
  %84 = load i32, ptr addrspace(1) %83, align 4, !llvm.mem.parallel_loop_access !0
  %85 = and i32 %84, 1023
  %86 = sext i32 %85 to i64
  %87 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %86
  %88 = load i32, ptr addrspace(1) %87, align 4, !llvm.mem.parallel_loop_access !0
  %89 = or disjoint i32 %21, 7
  %90 = sext i32 %89 to i64
  %91 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %90
  %92 = load i32, ptr addrspace(1) %91, align 4, !llvm.mem.parallel_loop_access !0
  %93 = and i32 %92, 1023
  %94 = sext i32 %93 to i64
  %95 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %94
  %96 = load i32, ptr addrspace(1) %95, align 4, !llvm.mem.parallel_loop_access !0
  %97 = add nuw nsw i32 %62, %10
  %98 = sext i32 %97 to i64
  %99 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %98
  store i32 %73, ptr addrspace(1) %99, align 4, !llvm.mem.parallel_loop_access !0
  %100 = add nuw nsw i32 %66, %10
  %101 = sext i32 %100 to i64
  %102 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %101
  store i32 %80, ptr addrspace(1) %102, align 4, !llvm.mem.parallel_loop_access !0
  %103 = add nuw nsw i32 %81, %10
  %104 = sext i32 %103 to i64
  %105 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %104
  store i32 %88, ptr addrspace(1) %105, align 4, !llvm.mem.parallel_loop_access !0
  %106 = add nuw nsw i32 %21, 8
  %107 = add nuw nsw i32 %89, %10
  %108 = sext i32 %107 to i64
  %109 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %108
  store i32 %96, ptr addrspace(1) %109, align 4, !llvm.mem.parallel_loop_access !0
  %niter.next.7 = add i32 %niter, 8
  %niter.ncmp.7.not = icmp eq i32 %niter.next.7, %unroll_iter
  br i1 %niter.ncmp.7.not, label %b3.loopexit.unr-lcssa, label %b8, !llvm.loop !1

b2:                                               ; preds = %b1.preheader, %b2
  %110 = phi i32 [ %111, %b2 ], [ 0, %b1.preheader ]
  %111 = add nuw nsw i32 %110, 1
  %112 = sext i32 %110 to i64
  %113 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %112
  %114 = load i32, ptr addrspace(1) %113, align 4
  %115 = and i32 %114, 1023
  %116 = sext i32 %115 to i64
  %117 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %116
  %118 = load i32, ptr addrspace(1) %117, align 4
  %119 = add nuw nsw i32 %110, %10
  %120 = sext i32 %119 to i64
  %121 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %120
  store i32 %118, ptr addrspace(1) %121, align 4
  %exitcond.not = icmp eq i32 %111, %1
  br i1 %exitcond.not, label %b3, label %b2, !llvm.loop !4

b3.loopexit.unr-lcssa:                            ; preds = %b8
  %.lcssa = phi i32 [ %106, %b8 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b8.epil.preheader

b8.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b8.preheader
  %.epil.init = phi i32 [ 0, %b8.preheader ], [ %.lcssa, %b3.loopexit.unr-lcssa ]
  %lcmp.mod4 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod4)
  %122 = sub i32 %xtraiter, 0
  br label %123

123:                                              ; preds = %b8.epil.preheader
  %124 = icmp ugt i32 %122, 1
  %125 = icmp ugt i32 %122, 2
  %126 = icmp ugt i32 %122, 3
  %127 = icmp ugt i32 %122, 4
  %128 = icmp ugt i32 %122, 5
  %129 = icmp ugt i32 %122, 6
  %130 = add nuw nsw i32 %.epil.init, 1
  %131 = sext i32 %.epil.init to i64
  %132 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %131
  %133 = load i32, ptr addrspace(1) %132, align 4, !llvm.mem.parallel_loop_access !0
  %134 = add nuw nsw i32 %.epil.init, 2
  %135 = sext i32 %130 to i64
  %136 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %135
  %137 = add nuw nsw i32 %.epil.init, 3
  %138 = sext i32 %134 to i64
  %139 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %138
  %140 = add nuw nsw i32 %.epil.init, 4
  %141 = sext i32 %137 to i64
  %142 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %141
  %143 = add nuw nsw i32 %.epil.init, 5
  %144 = sext i32 %140 to i64
  %145 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %144
  %146 = add nuw nsw i32 %.epil.init, 6
  %147 = sext i32 %143 to i64
  %148 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %147
  %149 = add nuw nsw i32 %.epil.init, 7
  %150 = sext i32 %146 to i64
  %151 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %150
  br i1 %124, label %152, label %154

152:                                              ; preds = %123
  %153 = load i32, ptr addrspace(1) %136, align 4, !llvm.mem.parallel_loop_access !0
  br label %154

154:                                              ; preds = %152, %123
  %155 = phi i32 [ %153, %152 ], [ poison, %123 ]
  br i1 %125, label %156, label %158

156:                                              ; preds = %154
  %157 = load i32, ptr addrspace(1) %139, align 4, !llvm.mem.parallel_loop_access !0
  br label %158

158:                                              ; preds = %156, %154
  %159 = phi i32 [ %157, %156 ], [ poison, %154 ]
  br i1 %126, label %160, label %162

160:                                              ; preds = %158
  %161 = load i32, ptr addrspace(1) %142, align 4, !llvm.mem.parallel_loop_access !0
  br label %162

162:                                              ; preds = %160, %158
  %163 = phi i32 [ %161, %160 ], [ poison, %158 ]
  br i1 %127, label %164, label %166

164:                                              ; preds = %162
  %165 = load i32, ptr addrspace(1) %145, align 4, !llvm.mem.parallel_loop_access !0
  br label %166

166:                                              ; preds = %164, %162
  %167 = phi i32 [ %165, %164 ], [ poison, %162 ]
  br i1 %128, label %168, label %170

168:                                              ; preds = %166
  %169 = load i32, ptr addrspace(1) %148, align 4, !llvm.mem.parallel_loop_access !0
  br label %170

170:                                              ; preds = %168, %166
  %171 = phi i32 [ %169, %168 ], [ poison, %166 ]
  br i1 %129, label %172, label %174

172:                                              ; preds = %170
  %173 = load i32, ptr addrspace(1) %151, align 4, !llvm.mem.parallel_loop_access !0
  br label %174

174:                                              ; preds = %172, %170
  %175 = phi i32 [ %173, %172 ], [ poison, %170 ]
  %176 = and i32 %133, 1023
  %177 = sext i32 %176 to i64
  %178 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %177
  %179 = load i32, ptr addrspace(1) %178, align 4, !llvm.mem.parallel_loop_access !0
  %180 = and i32 %155, 1023
  %181 = sext i32 %180 to i64
  %182 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %181
  %183 = and i32 %159, 1023
  %184 = sext i32 %183 to i64
  %185 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %184
  %186 = and i32 %163, 1023
  %187 = sext i32 %186 to i64
  %188 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %187
  %189 = and i32 %167, 1023
  %190 = sext i32 %189 to i64
  %191 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %190
  %192 = and i32 %171, 1023
  %193 = sext i32 %192 to i64
  %194 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %193
  %195 = and i32 %175, 1023
  %196 = sext i32 %195 to i64
  %197 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %196
  br i1 %124, label %198, label %200

198:                                              ; preds = %174
  %199 = load i32, ptr addrspace(1) %182, align 4, !llvm.mem.parallel_loop_access !0
  br label %200

200:                                              ; preds = %198, %174
  %201 = phi i32 [ %199, %198 ], [ poison, %174 ]
  br i1 %125, label %202, label %204

202:                                              ; preds = %200
  %203 = load i32, ptr addrspace(1) %185, align 4, !llvm.mem.parallel_loop_access !0
  br label %204

204:                                              ; preds = %202, %200
  %205 = phi i32 [ %203, %202 ], [ poison, %200 ]
  br i1 %126, label %206, label %208

206:                                              ; preds = %204
  %207 = load i32, ptr addrspace(1) %188, align 4, !llvm.mem.parallel_loop_access !0
  br label %208

208:                                              ; preds = %206, %204
  %209 = phi i32 [ %207, %206 ], [ poison, %204 ]
  br i1 %127, label %210, label %212

210:                                              ; preds = %208
  %211 = load i32, ptr addrspace(1) %191, align 4, !llvm.mem.parallel_loop_access !0
  br label %212

212:                                              ; preds = %210, %208
  %213 = phi i32 [ %211, %210 ], [ poison, %208 ]
  br i1 %128, label %214, label %216

214:                                              ; preds = %212
  %215 = load i32, ptr addrspace(1) %194, align 4, !llvm.mem.parallel_loop_access !0
  br label %216

216:                                              ; preds = %214, %212
  %217 = phi i32 [ %215, %214 ], [ poison, %212 ]
  br i1 %129, label %218, label %220

218:                                              ; preds = %216
  %219 = load i32, ptr addrspace(1) %197, align 4, !llvm.mem.parallel_loop_access !0
  br label %220

220:                                              ; preds = %218, %216
  %221 = phi i32 [ %219, %218 ], [ poison, %216 ]
  %222 = add nuw nsw i32 %.epil.init, %10
  %223 = sext i32 %222 to i64
  %224 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %223
  store i32 %179, ptr addrspace(1) %224, align 4, !llvm.mem.parallel_loop_access !0
  %225 = add i32 0, 1
  br i1 %124, label %226, label %265

226:                                              ; preds = %220
  %227 = add nuw nsw i32 %130, %10
  %228 = add nsw i32 %10, %.epil.init
  %229 = add nsw i32 %228, 1
  %230 = sext i32 %229 to i64
  %231 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %230
  store i32 %201, ptr addrspace(1) %231, align 4, !llvm.mem.parallel_loop_access !0
  br i1 %125, label %232, label %265

232:                                              ; preds = %226
  %233 = add nuw nsw i32 %134, %10
  %234 = add nsw i32 %10, %.epil.init
  %235 = add nsw i32 %234, 2
  %236 = sext i32 %235 to i64
  %237 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %236
  store i32 %205, ptr addrspace(1) %237, align 4, !llvm.mem.parallel_loop_access !0
  %238 = add i32 2, 1
  br i1 %126, label %239, label %265

239:                                              ; preds = %232
  %240 = add nuw nsw i32 %137, %10
  %241 = add nsw i32 %10, %.epil.init
  %242 = add nsw i32 %241, 3
  %243 = sext i32 %242 to i64
  %244 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %243
  store i32 %209, ptr addrspace(1) %244, align 4, !llvm.mem.parallel_loop_access !0
  br i1 %127, label %245, label %265

245:                                              ; preds = %239
  %246 = add nuw nsw i32 %140, %10
  %247 = add nsw i32 %10, %.epil.init
  %248 = add nsw i32 %247, 4
  %249 = sext i32 %248 to i64
  %250 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %249
  store i32 %213, ptr addrspace(1) %250, align 4, !llvm.mem.parallel_loop_access !0
  %251 = add i32 4, 1
  br i1 %128, label %252, label %265

252:                                              ; preds = %245
  %253 = add nuw nsw i32 %143, %10
  %254 = add nsw i32 %10, %.epil.init
  %255 = add nsw i32 %254, 5
  %256 = sext i32 %255 to i64
  %257 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %256
  store i32 %217, ptr addrspace(1) %257, align 4, !llvm.mem.parallel_loop_access !0
  br i1 %129, label %258, label %265

258:                                              ; preds = %252
  %259 = add nuw nsw i32 %146, %10
  %260 = add nsw i32 %10, %.epil.init
  %261 = add nsw i32 %260, 6
  %262 = sext i32 %261 to i64
  %263 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %262
  store i32 %221, ptr addrspace(1) %263, align 4, !llvm.mem.parallel_loop_access !0
  %264 = add i32 6, 1
  br label %265

265:                                              ; preds = %258, %252, %245, %239, %232, %226, %220
  br label %b8.epil

b8.epil:                                          ; preds = %265
  br label %b3

b3:                                               ; preds = %b8.epil, %b2, %b3.loopexit.unr-lcssa, %b1.preheader, %b7.preheader
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare void @llvm.assume(i1 noundef) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }

!0 = !{}
!1 = distinct !{!1, !2, !3}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = !{!"pyptx.unrolled", i32 8}
!4 = distinct !{!4, !2}
