"""Public names of torch that are not in retrograd, by module; `tools/torch_names.py` writes this file."""

ABSENT = {
    "": """
        AVG AcceleratorError AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType BFloat16Storage
        BenchmarkConfig BenchmarkExecutionStats Block BoolStorage BoolType BufferDict ByteStorage CallStack Capsule
        CharStorage ClassType Code CompilationUnit CompleteArgumentSpec ComplexDoubleStorage ComplexFloatStorage
        ComplexType ConcreteModuleType ConcreteModuleTypeBuilder DeepCopyMemoTable DeserializationStorageContext
        DeviceObjType DictType DisableTorchFunction DisableTorchFunctionSubclass DispatchKey DispatchKeySet
        DoubleStorage EnumType ErrorReport Event ExcludeDispatchKeyGuard ExecutionPlan FatalError FileCheck FloatStorage
        FloatType FunctionSchema Future FutureType Gradient Graph GraphExecutorState HalfStorage IODescriptor
        InferredType IntStorage IntType InterfaceType JITException ListType LiteScriptModule LockingLogger LoggerBase
        LongStorage ModuleDict Node NoneType NoopLogger NumberType OperatorInfo OptionalType OutOfMemoryError
        PRIVATE_OPS ParameterDict PyObjectType PyTorchFileReader PyTorchFileWriter QInt32Storage QInt8Storage
        QUInt2x4Storage QUInt4x2Storage QUInt8Storage RRefType SUM ScriptClass ScriptClassFunction ScriptDict
        ScriptDictIterator ScriptDictKeyIterator ScriptFunction ScriptList ScriptListIterator ScriptMethod ScriptModule
        ScriptModuleSerializer ScriptObject ScriptObjectProperty SerializationStorageContext ShortStorage StaticModule
        Storage StorageBase Stream StreamObjType StringType SymBool SymBoolType SymFloat SymInt SymIntType Tag
        TensorType ThroughputBenchmark TracingState TupleType Type TypedStorage USE_GLOBAL_DEPS
        USE_RTLD_GLOBAL_WITH_LIBTORCH UnionType UntypedStorage Use Value alpha_dropout_ batch_norm_backward_elemt
        batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts
        batch_norm_stats batch_norm_update_stats bit bits16 bits1x8 bits2x4 bits4x2 bits8 ccol_indices_copy
        choose_qparams_optimized classes classproperty col_indices_copy compiled_with_cxx11_abi cond contrib cpp
        crow_indices_copy cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
        cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable dequantize detach_copy
        dropout_ dsmm eig embedding_bag embedding_renorm_ empty_quantized fake_quantize_per_channel_affine
        fake_quantize_per_tensor_affine fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation
        fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
        fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix feature_alpha_dropout_ feature_dropout_
        float4_e2m1fn_x2 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu fork from_file
        functional fused_moving_avg_obs_fake_quant futures get_autocast_gpu_dtype get_autocast_ipu_dtype
        get_autocast_xla_dtype get_file_path has_lapack has_mkl has_openmp has_spectral hsmm hspmm import_ir_module
        import_ir_module_from_buffer indices_copy init_num_threads int1 int2 int3 int4 int5 int6 int7 int_repr
        is_autocast_ipu_enabled is_autocast_xla_enabled is_distributed jagged legacy_contiguous_format lstsq matrix_rank
        merge_type_from_type_comment miopen_batch_norm miopen_convolution miopen_convolution_add_relu
        miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn
        mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d
        mkldnn_rnn_layer monitor mtia multiprocessing native_channel_shuffle native_norm nativert numa overrides package
        parse_ir parse_schema parse_type_comment per_channel_affine per_channel_affine_float_qparams
        per_channel_symmetric per_tensor_affine per_tensor_symmetric prepare_multiprocessing_environment
        profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 q_per_channel_axis q_per_channel_scales
        q_per_channel_zero_points q_scale q_zero_point qint32 qint8 qscheme quantize_per_channel quantize_per_tensor
        quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
        quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
        quantized_rnn_tanh_cell quint2x4 quint4x2 quint8 resize_as_sparse_ row_indices_copy saddmm
        set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype
        set_autocast_xla_enabled slice_inverse smm solve sparse_bsc sparse_bsc_tensor sparse_bsr sparse_bsr_tensor
        sparse_compressed_tensor sparse_csc sparse_csc_tensor sspaddmm storage sym_constrain_range
        sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
        thread_safe_generator uint1 uint2 uint3 uint4 uint5 uint6 uint7 unify_type_list values_copy view_as_complex_copy
        view_as_real_copy wait while_loop
    """,
    "accelerator": """
        Graph graphs memory
    """,
    "autograd": """
        profiler_legacy
    """,
    "backends": """
        cpu cusparselt kleidiai mha miopen python_native xeon xnnpack
    """,
    "backends.cuda": """
        SDPAParams allow_fp16_bf16_reduction_math_sdp blas_workspace_size can_use_cudnn_attention cuBLASModule
        cuFFTPlanCache cuFFTPlanCacheAttrContextProp cuFFTPlanCacheManager cublas_workspace_size cublaslt_workspace_size
        fp16_bf16_reduction_math_sdp_allowed is_ck_sdpa_available preferred_rocm_fa_library
    """,
    "backends.cudnn": """
        rnn
    """,
    "compiler": """
        config get_default_backend keep_portable_guards_unsafe keep_tensor_guards_unsafe load_cache_artifacts
        load_compiled_function nested_compile_region save_cache_artifacts set_default_backend
        set_enable_guard_collectives skip_all_guards_unsafe skip_guard_on_all_nn_modules_unsafe
        skip_guard_on_globals_unsafe skip_guard_on_inbuilt_nn_modules_unsafe substitute_in_graph wrap_numpy
    """,
    "cpu": """
        Event Stream StreamContext current_device current_stream device_count get_capabilities is_available
        is_initialized set_device stream synchronize
    """,
    "cuda": """
        BFloat16Storage BoolStorage ByteStorage CUDAPluggableAllocator CharStorage ComplexDoubleStorage
        ComplexFloatStorage DeferredCudaCallError DoubleStorage FloatStorage GreenContext HalfStorage IntStorage
        LongStorage ShortStorage caching_allocator_alloc caching_allocator_delete caching_allocator_disabled
        caching_allocator_enable change_current_allocator check_error clock_rate comm cudaStatus current_solver_handle
        device_memory_used gds get_stream_from_external graphs green_contexts host_memory_stats
        host_memory_stats_as_nested_dict jiterator memory_usage nccl power_draw profiler
        reset_accumulated_host_memory_stats reset_peak_host_memory_stats set_stream sparse temperature tunable
        use_mem_pool
    """,
    "distributed": """
        AllToAllOptions AllreduceCoalescedOptions AllreduceOptions Backend BackendConfig BarrierOptions BroadcastOptions
        BuiltinCommHookType DeviceMesh DistNetworkError DistStoreError FileStore GatherOptions GroupName
        HashStore Logger PrefixStore ProcessGroupGloo ProcessGroupNCCL QueueEmptyError ReduceOptions
        ReduceScatterOptions Reducer ScatterOptions Store TCPStore all_gather_coalesced all_reduce_coalesced
        argparse_util autograd breakpoint c10d_logger collective_utils config constants debug
        default_pg_timeout device_mesh distributed_c10d elastic flight_recorder fsdp get_backend_config
        get_default_backend_for_device get_pg_count init_device_mesh launch launcher logging_handlers new_subgroups
        new_subgroups_by_enumeration pipelining record_comm reduce_op register_rendezvous_handler remote_device
        rendezvous rpc run shrink_group split_group supports_complex tensor utils
    """,
    "fft": """
        Tensor
    """,
    "func": """
        rearrange
    """,
    "jit": """
        CompilationUnit ScriptFunction ScriptModule enable_onednn_fusion export_opnames frontend generate_bytecode
        mobile onednn_fusion_enabled quantized set_fusion_strategy supported_ops unsupported_tensor_ops
    """,
    "library": """
        fallthrough_kernel get_kernel impl_abstract register_autocast register_torch_dispatch triton_op wrap_triton
    """,
    "linalg": """
        common_notes
    """,
    "masked": """
        MaskedTensor as_masked_tensor is_masked_tensor masked_tensor maskedtensor
    """,
    "nn": """
        backends cpp factory_kwargs grad intrinsic qat quantizable quantized
    """,
    "nn.functional": """
        BroadcastingList1 BroadcastingList2 BroadcastingList3 GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES
        TYPE_CHECKING Tensor assert_int_or_pair boolean_dispatch grouped_mm handle_torch_function native_channel_shuffle
        reproducibility_notes scaled_grouped_mm scaled_mm sparse_support_notes tf32_notes
    """,
    "nn.parallel": """
        comm gather parallel_apply replicate scatter scatter_gather
    """,
    "nn.utils": """
        fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights fusion
    """,
    "profiler": """
        ExecutionTraceObserver itt profiler python_tracer
    """,
    "random": """
        thread_safe_generator
    """,
    "serialization": """
        LoadEndianness SourceChangeWarning StorageType check_module_version_greater_or_equal default_restore_location
        get_crc32_options get_default_load_endianness get_default_mmap_options get_unsafe_globals_in_checkpoint
        location_tag mkdtemp normalize_storage_type register_package set_crc32_options set_default_load_endianness
        set_default_mmap_options skip_data storage_to_tensor_type validate_cuda_device validate_hpu_device
    """,
    "signal.windows": """
        windows
    """,
    "sparse": """
        SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT SparseSemiStructuredTensorCUTLASS
        as_sparse_gradcheck check_sparse_tensor_invariants semi_structured solve to_sparse_semi_structured
    """,
    "testing": """
        FileCheck
    """,
    "utils": """
        ThroughputBenchmark backcompat backend_registration bundled_inputs cmake_prefix_path collect_env cpp_backtrace
        cpp_extension debug_log file_baton flop_counter generate_methods_for_privateuse1_backend get_cpp_backtrace
        hipify jit mkldnn mobile_optimizer model_dump model_zoo module_tracker rename_privateuse1_backend serialization
        set_module show_pickle swap_tensors throughput_benchmark viz weak
    """,
    "utils.benchmark": """
        CallgrindStats CopyIfCallgrind FunctionCount FunctionCounts FuzzedParameter FuzzedSparseTensor FuzzedTensor
        Fuzzer ParameterAlias examples op_fuzzers utils
    """,
    "utils.checkpoint": """
        CheckpointPolicy SAC_IGNORED_OPS SelectiveCheckpointContext create_selective_checkpoint_contexts
    """,
    "utils.data": """
        DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation backward_compatibility datapipes
        functional_datapipe graph graph_settings guaranteed_datapipes_determinism non_deterministic runtime_validation
        runtime_validation_disabled
    """,
}
