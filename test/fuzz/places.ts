import fc from 'fast-check'
import type { Operation, Parameter } from '../support/described/description.js'
import { arbitraryOfSchema, type Known, type Schemas } from '../support/described/arbitrary-of-schema.js'

/** Segments that an URL may carry and a name may not, or only just. */
const ODD_SEGMENTS = [
  ...[
    '%',
    '%zz',
    '%00',
    '%0a',
    '%2f',
    '%2e%2e',
    '..',
    '.',
    '%ff',
    '%ed%a0%80',
    '%f0%9f%98%80',
    '+',
    '~',
    '*',
  ],
  ...['x'.repeat(300), 'a%2Fb', '%25', ';a=b', 'null', '__proto__', "'", '%7B%7D', 'a:b'],
]

/** The path of an operation with its parameters and its query filled in. */
export const placeOf = (schemas: Schemas, known: Known, project: string) => {
  const [entity, ofEntity] = project.split('/') as [string, string]
  const valueOf = arbitraryOfSchema(schemas, known)

  const segment = (name: string): fc.Arbitrary<string> => {
    if (name === 'entity' || name === 'team') return fc.constant(entity)
    if (name === 'project') return fc.constant(ofEntity)
    return (known(name) ?? fc.constant('unknown')).map(encoded)
  }

  const queryOf = (parameters: readonly Parameter[]): fc.Arbitrary<string> =>
    fc
      .tuple(
        ...parameters.map(({ name, schema, required }) =>
          (required ? valueOf(schema, name) : fc.option(valueOf(schema, name), { nil: null })).map((value) =>
            value === null
              ? []
              : [`${name}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`],
          ),
        ),
      )
      .map((pairs) => pairs.flat())
      .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))

  return ({ template, parameters }: Operation, isOdd = false): fc.Arbitrary<string> => {
    const odd = fc.constantFrom(...ODD_SEGMENTS)
    const path = fc.tuple(
      ...template.split('/').map((part) => {
        const name = /^\{(\w+)\}$/.exec(part)?.[1]
        if (name === undefined) return fc.constant(part)
        return isOdd ? fc.oneof(odd, segment(name)) : segment(name)
      }),
    )
    const tail = isOdd
      ? fc.constantFrom('', '/', '//', '?', '?limit=x', '?limit=1&limit=2', '/%00', '?%00')
      : fc.constant('')
    return fc
      .tuple(
        fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constant('/traces') }),
        path,
        queryOf(parameters.filter((one) => one.in === 'query')),
        tail,
      )
      .map(([prefix, parts, query, more]) => `${prefix}${parts.join('/')}${query}${more}`)
  }
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()) || '%20'
