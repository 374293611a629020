import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { catalogue, type Aggregate } from '../domain/catalogue.js'
import { isJsonObject, type Json, type JsonObject } from '../kernel/json/json.js'

const EVENTS_PAGE = resolve('docs/events.md')

/** `tallytree docs`: writes the event catalogue, or with `check` only checks that it is up to date. Returns the exit code. */
export const docs = async (check: boolean): Promise<number> => {
  const page = eventsPage(catalogue)
  if (!check) {
    await writeFile(EVENTS_PAGE, page)
    return 0
  }
  if ((await readFile(EVENTS_PAGE, 'utf8').catch(() => '')) === page) return 0
  process.stderr.write('docs/events.md is out of date: run "npm run docs"\n')
  return 1
}

const INTRODUCTION = `# The events

Generated from the codecs by \`npm run docs\`; \`npm run check\` fails when it is out of date.

Besides its data, every event has: \`id\` (a UUID), \`stream\`, \`revision\` (from 0 within the stream), \`position\` (in the
whole log), \`recordedAt\`, and metadata: \`correlationId\` (the request's id), \`causationId\`, \`actor\` (a user, or
\`system\`) and \`schemaVersion\`. Events written by the gateway have \`part\` \`inference\`.

Absent optional fields are null in the event. An event whose content was erased has \`erased\` true.
`

/** The event catalogue as a Markdown page. */
const eventsPage = (aggregates: readonly Aggregate[]): string =>
  [INTRODUCTION, ...aggregates.map(aggregateSection)].join('\n')

const aggregateSection = ({ name, stream, events }: Aggregate): string =>
  [
    `## ${name}\n\nStream: \`${stream}\`\n`,
    ...Object.entries(events).map(([type, { schema }]) => eventSection(type, schema)),
  ].join('\n')

const eventSection = (type: string, schema: JsonObject): string => {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set(schema['required'] as readonly string[] | undefined)
  const rows = Object.entries(properties).map(
    ([field, of]) => `| \`${field}\` | ${typeText(of)} | ${required.has(field) ? 'yes' : 'no'} |`,
  )
  return [
    `### ${type}\n\n${asText(schema['description'])}\n`,
    '| field | type | required |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

/** Describes a schema in a few words. */
const typeText = (schema: Json | undefined): string => {
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return 'any JSON'
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as readonly Json[]).map(typeText).join(' or ')
  if (Array.isArray(schema['enum']))
    return (schema['enum'] as readonly Json[]).map((word) => `\`${asText(word)}\``).join(', ')
  if (schema['type'] === 'array') return `list of ${typeText(schema['items'])}`
  if (schema['type'] === 'object') return objectText(schema)
  return [schema['type'], schema['format']]
    .filter((part) => part !== undefined)
    .map(asText)
    .join(', ')
}

const objectText = (schema: JsonObject): string => {
  const properties = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : []
  if (properties.length > 0) return `{${properties.join(', ')}}`
  return isJsonObject(schema['additionalProperties'])
    ? `dictionary of ${typeText(schema['additionalProperties'])}`
    : 'object'
}

const asText = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
