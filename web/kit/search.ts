/** The state of a page that is in its address: all values are text, so that no digits and no types are lost. */
export type Search = Readonly<Record<string, string>>

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text))

export const printSearch = (search: Record<string, unknown>): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    if (typeof value === 'string' && value !== '') parameters.set(name, value)
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
