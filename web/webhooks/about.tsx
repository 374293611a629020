import { AppLink } from '../kit/app-link.js'

/** What an event is about, by the name of its stream, such as `call-TEAM/PROJECT/ID`. */
export const About = ({ stream }: { readonly stream: string }) => {
  const [, kind = '', path = ''] = /^([a-z_]+)-(.+)$/.exec(stream) ?? []
  const parts = path.split('/')
  const name = parts.at(-1)!
  if (kind === 'call' && parts.length >= 3)
    return (
      <AppLink
        href={`/${parts.slice(0, 2).map(encodeURIComponent).join('/')}/calls/${encodeURIComponent(name)}`}
        title={name}
      >
        call …{name.slice(-8)}
      </AppLink>
    )
  return <span title={path}>{name === '' ? '—' : `${kind.replaceAll('_', ' ')} ${name}`}</span>
}
