/**
 * The names of attributes by what they mean, of which the first counts. Conventions are in this order: explicit names of
 * wandb, weave and Langfuse, the newest ones of GenAI, OpenInference, the AI SDK, older ones of GenAI, Traceloop, LangSmith,
 * MLflow, ADK, Logfire, bare names.
 */
export const NAMES = {
  kind: [
    'langfuse.observation.type',
    'gen_ai.operation.name',
    'openinference.span.kind',
    'ai.operationId',
    'llm.request.type',
    'traceloop.span.kind',
    'langsmith.span.kind',
    'mlflow.spanType',
    'span.type',
  ],
  model: [
    'langfuse.observation.model.name',
    'gen_ai.response.model',
    'llm.response.model_name',
    'ai.response.model',
    'mlflow.llm.model',
    'llm.model_name',
    'embedding.model_name',
    'gen_ai.request.model',
    'ai.model.id',
    'llm.request.model_name',
    'model_name',
    'model',
  ],
  provider: [
    'gen_ai.provider.name',
    'llm.provider',
    'gen_ai.system',
    'llm.system',
    'ai.model.provider',
    'langsmith.metadata.ls_provider',
    'mlflow.llm.provider',
  ],
  operation: ['gen_ai.operation.name', 'ai.operationId'],
  agent: ['gen_ai.agent.name', 'agent.name', 'agent_name'],
  tool: ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name'],
  thread: ['wandb.thread_id', 'gen_ai.conversation.id'],
  session: [
    'langfuse.session.id',
    'session.id',
    'ai.telemetry.metadata.sessionId',
    'ai.telemetry.metadata.threadId',
    'traceloop.association.properties.session_id',
    'traceloop.association.properties.thread_id',
    'traceloop.association.properties.conversation_id',
    'langsmith.metadata.session_id',
    'langsmith.metadata.thread_id',
    'langsmith.metadata.conversation_id',
    'mlflow.trace.session',
    'gcp.vertex.agent.session_id',
  ],
  user: [
    'langfuse.user.id',
    'user.id',
    'enduser.id',
    'gen_ai.user',
    'llm.user',
    'ai.telemetry.metadata.userId',
    'traceloop.association.properties.user_id',
    'langsmith.metadata.user_id',
    'mlflow.trace.user',
  ],
  /** Lists, or one text with commas. */
  tags: [
    'langfuse.trace.tags',
    'tag.tags',
    'ai.telemetry.metadata.tags',
    'langsmith.span.tags',
    'logfire.tags',
  ],
  /** Of the span, else of the resource. */
  environment: ['langfuse.environment', 'deployment.environment.name', 'deployment.environment'],
  release: ['langfuse.release', 'service.version'],
  responseId: ['gen_ai.response.id', 'llm.response.id', 'ai.response.id'],
  error: ['error.type'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Field = keyof typeof NAMES

/** Objects, or JSON texts of objects. Members of earlier ones replace those of later ones. */
export const OBJECTS = {
  parameters: [
    'langfuse.observation.model.parameters',
    'llm.invocation_parameters',
    'embedding.invocation_parameters',
    'model_config',
  ],
  metadata: ['langfuse.observation.metadata', 'langfuse.trace.metadata', 'metadata'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Beginnings of keys, each followed by the name of a member. */
export const PREFIXES = {
  parameters: ['gen_ai.request.', 'ai.settings.'],
  metadata: [
    'langfuse.observation.metadata.',
    'langfuse.trace.metadata.',
    'ai.telemetry.metadata.',
    'traceloop.association.properties.',
    'langsmith.metadata.',
    'mlflow.traceTag.',
  ],
  evaluation: ['weave.eval.'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Members of parameters and metadata that are read as something else. */
export const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'prompt', 'tools', 'functions'],
  ...['sessionId', 'threadId', 'userId', 'tags'],
  ...['session_id', 'thread_id', 'conversation_id', 'user_id', 'usage_metadata', 'ls_invocation_params'],
])

export type Kind =
  'model' | 'embedding' | 'tool' | 'agent' | 'retrieval' | 'guardrail' | 'evaluator' | 'prompt'

const OF_KIND: Readonly<Record<Kind, readonly string[]>> = {
  model: [
    ...[
      'chat',
      'generate_content',
      'text_completion',
      'completion',
      'generate',
      'response',
      'fetch_response',
    ],
    ...['llm', 'generation', 'chat_model', 'claude_code.llm_request', 'llm_request'],
    ...['ai.generatetext.dogenerate', 'ai.streamtext.dostream'],
    ...['ai.generateobject.dogenerate', 'ai.streamobject.dostream'],
  ],
  embedding: ['embeddings', 'embedding', 'ai.embed.doembed', 'ai.embedmany.doembed'],
  tool: ['execute_tool', 'tool', 'ai.toolcall', 'claude_code.tool'],
  agent: [
    ...['invoke_agent', 'create_agent', 'invoke_workflow', 'agent_step', 'plan'],
    ...['agent', 'chain', 'workflow', 'task', 'claude_code.interaction', 'interaction'],
    ...[
      'ai.generatetext',
      'ai.streamtext',
      'ai.generateobject',
      'ai.streamobject',
      'ai.embed',
      'ai.embedmany',
    ],
  ],
  retrieval: ['retrieval', 'search_memory', 'retriever', 'reranker'],
  guardrail: ['guardrail'],
  evaluator: ['evaluator'],
  prompt: ['prompt'],
}

/** The kind by the value of one of the attributes of `NAMES.kind`, in lower case. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(OF_KIND).flatMap(([kind, values]) => values.map((value) => [value, kind as Kind] as const)),
)

/** Spans of ADK that name no operation. */
export const ADK_CONTAINERS: ReadonlySet<string> = new Set(['call_llm', 'invocation', 'invoke_workflow'])

/** Names of spans that say nothing about the agent or tool. */
export const GENERIC_NAMES: ReadonlySet<string> = new Set([
  ...['agent', 'agent run', 'invoke_agent', 'tool', 'running tool', 'execute_tool', 'ai.toolCall'],
  ...['claude_code.tool'],
])
