import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json/json.js'

const BOUNDARY = 'between-two-parts'

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

/** An object as a multipart form: what its schema calls binary is a file. */
export const formOf = (value: Json | undefined, schema: JsonObject): Buffer => {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const members = isJsonObject(value) ? Object.entries(value) : []
  const parts = members.map(([name, member]) => {
    const of = properties[name]
    const isFile = isJsonObject(of) && of['format'] === 'binary'
    const file = isFile ? '; filename="content"\r\nContent-Type: application/octet-stream' : ''
    const text = typeof member === 'string' ? member : JSON.stringify(member)
    const quoted = name.replaceAll(/["\r\n]/g, '_')
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${quoted}"${file}\r\n\r\n${text}\r\n`
  })
  return Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`)
}
