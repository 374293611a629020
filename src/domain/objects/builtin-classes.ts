import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import type { Codec } from '../../kernel/codec/codec.js'
import { jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'
import {
  builtinClass,
  byForm,
  flag,
  float,
  model,
  named,
  optionalText,
  orDefaults,
  ruled,
  whole,
} from './builtin-model.js'
import { agentDashboard } from './builtin-dashboard.js'
import { providerUrlProblem } from './provider-url.js'
import { storedFilter, storedQuery, storedSort } from './builtin-query.js'

const text = nullable(string)
const texts = nullable(arrayOf(string))
const flags = nullable(recordOf(flag))
const wholeOrNull = nullable(whole)
const flagOrNull = nullable(flag)

const alertSpec = builtinClass('AlertSpec', {
  optional: {
    op_scope: texts,
    spec: orDefaults(
      model('WeaveMetricThresholdSpec', {
        floats: ['threshold'],
        optional: {
          alert_condition: withDefault(string, 'THRESHOLD'),
          source_type: withDefault(oneOf('calls', 'spans'), 'calls'),
          comparison_operator: withDefault(oneOf('GREATER_THAN', 'LESS_THAN', 'EQUAL'), 'GREATER_THAN'),
          metric_path: optionalText,
          op_str: optionalText,
          threshold: withDefault(float, 0),
          window_size: wholeOrNull,
          window_duration: wholeOrNull,
          monitor_ref: text,
          scorer_ref: text,
          aggregation_function: withDefault(
            oneOf('mean', 'median', 'min', 'max', 'mode', 'percentage', 'count'),
            'mean',
          ),
          status_match_value: text,
        },
      }),
    ),
  },
})

const leaderboard = builtinClass('Leaderboard', {
  required: {
    columns: arrayOf(
      model('LeaderboardColumn', {
        required: { evaluation_object_ref: string, scorer_name: string, summary_metric_path: string },
        optional: { should_minimize: flagOrNull },
      }),
    ),
  },
})

const HEADERS_OF_METADATA_SERVICES = /^(?:metadata-flavor|x-aws-ec2-metadata-token(?:-ttl-seconds)?)$/i

const provider = builtinClass('Provider', {
  required: { base_url: ruled(string, providerUrlProblem), api_key_name: string },
  optional: {
    extra_headers: ruled(withDefault(recordOf(string), {}), (headers) => {
      const refused = Object.keys(headers).find((name) => HEADERS_OF_METADATA_SERVICES.test(name))
      return refused === undefined ? undefined : `the header ${refused} is not allowed`
    }),
    return_type: withDefault(oneOf('openai'), 'openai'),
  },
})

const providerModel = builtinClass('ProviderModel', { required: { provider: string, max_tokens: whole } })

const message = model('Message', {
  required: { role: string },
  optional: {
    content: nullable(
      byForm(
        'content',
        (u) => (typeof u === 'string' ? string : arrayOf(jsonObject)),
        'Input should be a string or a list of dictionaries',
      ),
    ),
    name: text,
    function_call: nullable(jsonObject),
    tool_call_id: text,
  },
})

const numberOrNull = nullable(float)

const llmModelClass = model('LLMStructuredCompletionModel', {
  bases: ['Model', 'Object', 'BaseModel'],
  isClosed: true,
  required: { llm_model_id: string },
  optional: {
    name: text,
    description: text,
    ref: ruled(nullable(jsonObject), (ref) => (ref === null ? undefined : 'ref should be null')),
    default_params: orDefaults(
      model('LLMStructuredCompletionModelDefaultParams', {
        floats: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'],
        optional: {
          messages_template: nullable(arrayOf(message)),
          prompt: text,
          temperature: numberOrNull,
          top_p: numberOrNull,
          max_tokens: wholeOrNull,
          presence_penalty: numberOrNull,
          frequency_penalty: numberOrNull,
          stop: texts,
          n_times: wholeOrNull,
          functions: nullable(arrayOf(jsonObject)),
          response_format: nullable(oneOf('json_object', 'json_schema', 'text')),
        },
      }),
    ),
  },
})

const objectConfig = nullable(
  model('ObjectConfig', {
    optional: {
      version_groups: nullable(
        arrayOf(
          model('ObjectVersionGroup', {
            required: {
              label: string,
              base_ref: string,
              versions: byForm(
                'versions',
                (u) => (typeof u === 'string' ? oneOf('*') : arrayOf(string)),
                "Input should be a list of strings or '*'",
              ),
              show_version_indicator: flag,
            },
          }),
        ),
      ),
      display_name_map: nullable(recordOf(string)),
      deselected: texts,
    },
  }),
)

const dynamicLeaderboard = model('DynamicLeaderboardConfig', {
  optional: {
    model_configuration: objectConfig,
    dataset_configuration: objectConfig,
    scorer_configuration: objectConfig,
    columns_configuration: nullable(
      arrayOf(
        model('DynamicLeaderboardColumnConfig', {
          optional: {
            evaluation_object_ref: text,
            scorer_name: text,
            display_name: text,
            summary_metric_path: text,
            should_minimize: flagOrNull,
            deselected: flagOrNull,
          },
        }),
      ),
    ),
  },
})

const chart = model('ChartConfig', {
  required: { x_axis: string, y_axis: string },
  optional: {
    plot_type: nullable(oneOf('scatter', 'line', 'bar')),
    bin_count: wholeOrNull,
    aggregation: nullable(oneOf('average', 'sum', 'min', 'max', 'p95', 'p99')),
    group_keys: texts,
    custom_name: text,
  },
})

const pathElement = byForm(
  'path element',
  (u) => (typeof u === 'string' ? string : whole),
  'Input should be a string or an integer',
)
const column = model('Column', { optional: { path: nullable(arrayOf(pathElement)), label: text } })

const savedView = builtinClass('SavedView', {
  required: {
    view_type: string,
    label: string,
    definition: model('SavedViewDefinition', {
      optional: {
        filter: nullable(storedFilter),
        query: nullable(storedQuery),
        cols: flags,
        columns: nullable(arrayOf(column)),
        column_order: texts,
        expand_columns: texts,
        header_depth: wholeOrNull,
        pin: nullable(model('Pin', { required: { left: arrayOf(string), right: arrayOf(string) } })),
        sort_by: nullable(arrayOf(storedSort)),
        page: wholeOrNull,
        page_size: wholeOrNull,
        charts: nullable(arrayOf(chart)),
        dataset_selector: text,
        evaluation_selector: text,
        dynamic_leaderboard_config: nullable(dynamicLeaderboard),
      },
    }),
  },
})

const comparisonView = builtinClass('ComparisonView', {
  required: {
    label: string,
    definition: model('ComparisonViewDefinition', {
      required: { evaluation_call_ids: arrayOf(string) },
      optional: { selected_metrics: texts, column_visibility: flags },
    }),
  },
})

/** Classes that the tests of the Python SDK publish. */
const TEST_CLASSES = [
  builtinClass('TestOnlyExample', {
    required: {
      primitive: whole,
      nested_base_model: model('TestOnlyNestedBaseModel', {
        required: { a: whole, aliased_property_alias: whole },
      }),
      nested_base_object: string,
    },
  }),
  builtinClass('TestOnlyNestedBaseObject', { required: { b: whole } }),
  builtinClass('TestOnlyInheritedBaseObject', {
    bases: ['TestOnlyNestedBaseObject'],
    required: { b: whole, c: whole },
    optional: { additional_field: withDefault(string, 'default_value') },
  }),
]

/** The classes of objects that the server completes and checks, as the registry of Python `weave` has them. */
export const builtinClasses = ({
  compileSchema,
}: Pick<ScoringTools, 'compileSchema'>): ReadonlyMap<string, Codec<JsonObject>> => {
  const schema = ruled(jsonObject, (value) => {
    const compiled = compileSchema(value)
    return 'error' in compiled ? `not a valid JSON Schema: ${compiled.error}` : undefined
  })
  const annotationSpec = builtinClass('AnnotationSpec', {
    optional: {
      field_schema: withDefault(schema, {}),
      unique_among_creators: withDefault(flag, false),
      op_scope: texts,
    },
  })
  const actionSpec = builtinClass('ActionSpec', {
    required: {
      config: named('action_type', {
        llm_judge: model('LlmJudgeActionConfig', {
          required: {
            action_type: oneOf('llm_judge'),
            model: oneOf('gpt-4o', 'gpt-4o-mini'),
            prompt: string,
            response_schema: schema,
          },
        }),
        contains_words: model('ContainsWordsActionConfig', {
          required: { action_type: oneOf('contains_words'), target_words: arrayOf(string) },
        }),
      }),
    },
  })
  const classes = [
    ...[actionSpec, agentDashboard, alertSpec, annotationSpec, comparisonView, leaderboard, llmModelClass],
    ...[provider, providerModel, savedView, ...TEST_CLASSES],
  ]
  return new Map(classes.map((codec) => [codec.name, codec]))
}
