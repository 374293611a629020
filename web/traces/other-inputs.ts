import { childrenOf, spanText, stringOf, valueAt } from '../kit/json-scan.js'

export interface OtherInputs {
  /** Short values, the model first, as they were written. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
  /** An object of the others as JSON, '' where there are none. */
  readonly json: string
}

/** Longer values are no parameters. */
const MAX_PARAMETER = 80

/** The inputs of a call that are not shown as messages. All digits stay as they were written. */
export const otherInputs = (text: string, shown: ReadonlySet<string>): OtherInputs => {
  const root = valueAt(text, 0)
  const parameters: (readonly [string, string])[] = []
  const others: string[] = []
  for (const child of root.kind === 'object' ? childrenOf(text, root) : []) {
    const name = child.key ?? ''
    if (shown.has(name)) continue
    const value = spanText(text, child)
    const isShort = child.kind !== 'object' && child.kind !== 'array' && value.length <= MAX_PARAMETER
    if (isShort) parameters.push([name, child.kind === 'string' ? stringOf(value) : value])
    else others.push(`${JSON.stringify(name)}: ${value}`)
  }
  parameters.sort(([a], [b]) => Number(b === 'model') - Number(a === 'model'))
  return { parameters, json: others.length === 0 ? '' : `{${others.join(', ')}}` }
}
