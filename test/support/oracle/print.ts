import type { Operation, Question, SentEnd, SentStart } from './operations.js'

/** JSON in ASCII, so that ids that look alike can be told apart. */
const json = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const rest = (record: object, ...shown: ReadonlyArray<string>): string => {
  const kept = Object.entries(record).filter(([key]) => key !== 'project_id' && !shown.includes(key))
  return kept.map(([key, value]) => ` ${key}=${json(value)}`).join('')
}

const startLine = (start: SentStart): string => {
  const { id, started_at, attributes, inputs, op_name } = start
  const others = rest(start, 'id', 'started_at', 'attributes', 'inputs', 'op_name')
  return `start  ${json(id)} at ${started_at}${others} attributes=${json(attributes)} op=${json(op_name)} inputs=${json(inputs)}`
}

const endLine = (end: SentEnd): string =>
  `end    ${json(end.id)} at ${end.ended_at}${rest(end, 'id', 'ended_at')}`

const line = (operation: Operation): string => {
  switch (operation.kind) {
    case 'start':
      return startLine(operation.start)
    case 'end':
      return endLine(operation.end)
    case 'update':
      return `update ${json(operation.call_id)} to ${json(operation.display_name)}`
    case 'delete':
      return `delete ${operation.call_ids.map(json).join(', ')}`
    case 'reporting':
      return `the project reports ${operation.usage_reporting}`
  }
}

/** A case as a list that one can read: what was sent, in order, then what is asked. */
export const printCase = (operations: ReadonlyArray<Operation>, question: Question): string =>
  [
    '',
    ...operations.map((operation, index) => `${String(index + 1).padStart(3)}. ${line(operation)}`),
    `  ask ${json(question)}`,
    '',
  ].join('\n')
