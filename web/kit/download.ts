import { headersAsOf } from './as-of.js'

/** Saves the answer to a request as a file. */
export const download = async (path: string, body: object, name: string): Promise<void> => {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersAsOf(path) },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`The service answered ${response.status}.`)
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
