import type * as t from 'io-ts'
import { COMMON_VARIABLES, fieldsFor } from '../../domain/webhooks/automations/condition-fields.js'
import {
  conditionFields,
  EVENT_TYPES,
  eventType,
  type EventType,
} from '../../domain/webhooks/automations/events.js'
import { METADATA_PREFIX, VARIABLES } from '../../domain/webhooks/templates/variables.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { boolean, json, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { anyKey } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'

const eventField = open('AutomationEventField', {
  says: '`pattern` is an RE2 regular expression, `choices` a list of some of `choices`.',
  required: {
    name: string,
    kind: oneOf('text', 'pattern', 'number', 'integer', 'choice', 'choices'),
    required: boolean,
    default: json,
    choices: nullable(arrayOf(string)),
    minimum: nullable(number),
    maximum: nullable(number),
  },
})

const eventVariable = open('AutomationEventVariable', {
  required: { name: string, type: oneOf('text', 'number', 'json'), example: json },
})

const automationEvents = open('AutomationEvents', {
  says: 'What automations can watch. A variable may be missing from a single event.',
  required: {
    data: arrayOf(
      open('AutomationEventInfo', {
        required: {
          type: eventType,
          scopes: arrayOf(oneOf('project', 'registry', 'team')),
          fields: arrayOf(eventField),
          variables: arrayOf(eventVariable),
        },
      }),
    ),
  },
})

export const automationEventsRoute = (): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/automation-events',
    summary: 'The events that automations can watch, with their scopes, fields and variables.',
    response: automationEvents,
    authorization: anyKey,
    handle: () => Promise.resolve({ body: { data: EVENT_TYPES.map(infoOf) } }),
  })

const infoOf = (type: EventType): t.TypeOf<typeof automationEvents>['data'][number] => {
  const { scopes, required, defaults, variables, hasMetadata } = fieldsFor(type)
  return {
    type,
    scopes,
    fields: [
      ...required.map((name) => ({ ...fieldInfo(name), required: true, default: null })),
      ...Object.entries(defaults).map(([name, value]) => ({
        ...fieldInfo(name as keyof typeof conditionFields),
        required: false,
        default: value,
      })),
    ],
    variables: [
      ...[...COMMON_VARIABLES, ...variables].map((name) => ({ name, ...VARIABLES[name] })),
      ...(hasMetadata ? [{ name: `${METADATA_PREFIX}KEY`, type: 'json' as const, example: 0.93 }] : []),
    ],
  }
}

interface FieldSchema {
  readonly type: 'string' | 'number' | 'integer' | 'array'
  readonly enum?: readonly string[]
  readonly items?: { readonly enum: readonly string[] }
  readonly minimum?: number
  readonly maximum?: number
}

/** Read from the schema of the codec that decodes the field. */
const fieldInfo = (name: keyof typeof conditionFields) => {
  const [schema] = (conditionFields[name].schema as unknown as { anyOf: readonly [FieldSchema] }).anyOf
  return {
    name,
    kind: kindOf(name, schema),
    choices: schema.enum ?? schema.items?.enum ?? null,
    minimum: schema.minimum ?? null,
    maximum: schema.maximum ?? null,
  }
}

const kindOf = (name: string, schema: FieldSchema): t.TypeOf<typeof eventField>['kind'] => {
  if (schema.type === 'array') return 'choices'
  if (schema.type !== 'string') return schema.type
  if (schema.enum !== undefined) return 'choice'
  return name.endsWith('_pattern') ? 'pattern' : 'text'
}
