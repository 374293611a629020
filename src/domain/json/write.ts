import { isJsonObject, type Json } from './json.js'

/** JSON text of a value of any depth: `JSON.stringify` overflows the stack at some thousand levels. */
export const writeJson = (value: Json): string => {
  const out: string[] = []
  const todo: (string | { readonly value: Json })[] = [{ value }]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === 'string') out.push(next)
    else pushValue(next.value, out, todo)
  }
  return out.join('')
}

const pushValue = (value: Json, out: string[], todo: (string | { readonly value: Json })[]): void => {
  if (Array.isArray(value)) {
    out.push('[')
    todo.push(']')
    for (let i = value.length - 1; i >= 0; i -= 1) {
      todo.push({ value: value[i] as Json })
      if (i > 0) todo.push(',')
    }
  } else if (isJsonObject(value)) {
    out.push('{')
    todo.push('}')
    const keys = Object.keys(value)
    for (let i = keys.length - 1; i >= 0; i -= 1) {
      const key = keys[i]!
      todo.push({ value: value[key]! }, `${i > 0 ? ',' : ''}${JSON.stringify(key)}:`)
    }
  } else out.push(JSON.stringify(value))
}
