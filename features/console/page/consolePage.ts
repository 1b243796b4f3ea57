import { raw } from "hono/html";
import type { Core, UntrustedProxy } from "../../../src/gateway/index.ts";
import { buildInfo, type Traffic, type WhenOff } from "../../../src/operation/index.ts";
import type { Headline, OverviewNumber, PagePart, PageSection } from "../../../libraries/ui/consolePart.ts";
import { documentFrame, joinModules, readAsset, sharedStyle } from "../../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { fillBar, RECENT, section, timeAt } from "../../../libraries/ui/parts.ts";
import { bytes, counted, enumerate, formatNumber, percent, rate, timeOfDay } from "../../../libraries/ui/wording.ts";
import type { CacheView } from "../cacheView.ts";

/** The operators' page: its headers, and how it is rendered for each request. */
export type ConsolePage = ReturnType<typeof openConsolePage>;

/**
 * Assembles the page of the core's sections and the loaded parts of features. `address`: where the
 * new interface is served.
 */
export const openConsolePage = (
  core: ShownCore,
  cacheView: () => CacheView,
  loaded: readonly PagePart[],
  address: string,
) => {
  const parts = [corePart(core, cacheView), ...loaded];
  const { policy, render } = documentFrame(
    styleOf(parts),
    [scriptOf(parts)],
    ["connect-src 'self'", "frame-ancestors 'none'"],
  );
  const head = html`<meta name="robots" content="noindex" />`;
  const about = html`catalog-gateway ${buildInfo().labels["version"]} at <code>${address}</code>, started
    ${timeAt(new Date(performance.timeOrigin).toISOString())}`;
  const dialogs = parts.map((part) => part.dialogs ?? "");
  const renderDocument = (title: string | Html, content: Html): Html =>
    render({ title, head, body: html`<div id="page">${content}</div>` });
  return {
    headers: {
      "Content-Security-Policy": policy,
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    },
    render: {
      page(now: Date, query: URLSearchParams): Html {
        const { title, content } = contentOf(parts, { now, query, address, about });
        return renderDocument(
          title,
          html`${content} ${dialogs}
            <p id="message" role="status"></p>`,
        );
      },
      /** The page without a token: a form that takes one and nothing else. */
      signIn: (): Html => renderDocument("Sign in", signInForm()),
    },
  };
};

const asset = (file: string): URL => new URL(file, import.meta.url);
const uiAsset = (file: string): URL => new URL(`../../../libraries/ui/${file}`, import.meta.url);

const styleOf = (parts: readonly PagePart[]): string =>
  [sharedStyle(), readAsset(asset("page.css")), ...parts.map(({ style }) => style ?? "")].join("\n");

/** One module, since the browser could not load others with the token. Each part's script has a scope of its own. */
const scriptOf = (parts: readonly PagePart[]): string =>
  [
    readAsset(new URL(import.meta.resolve("#vendor/idiomorph/dist/idiomorph.min.js"))),
    joinModules(["remembered.js", "request.js", "messages.js"].map((file) => uiAsset(`client/${file}`))),
    ...parts.map(({ script }) => (script === undefined ? "" : `{\n${script}\n}`)),
    joinModules([asset("client/live.js")]),
  ].join("\n");

type ShownCore = Pick<
  Core,
  "off" | "settings" | "untrustedProxies" | "traffic" | "dependencies" | "meter" | "readCounts"
>;

/**
 * What fails, recent traffic, the cache, the sections of features that are off for lack of a setting, and
 * proxies that are not trusted.
 */
const corePart = (
  { off, settings, untrustedProxies, traffic, dependencies, meter, readCounts }: ShownCore,
  cacheView: () => CacheView,
): PagePart => ({
  show: (now) => ({
    sections: [cacheSection(cacheView(), now), ...off.flatMap(offSection)],
    notices: noticesOf(untrustedProxies.list()),
    headlines: troublesOf({ dependencies, meter }, now),
    numbers: [
      ...trafficNumbers(traffic, settings.REDIS_URL !== undefined),
      ...(readCounts === undefined ? [] : [readsNumber(readCounts.view(), now)]),
    ],
  }),
});

/** What fails that callers need: dependencies, since when and what it means, and backends whose circuit is open. */
const troublesOf = ({ dependencies, meter }: Pick<Core, "dependencies" | "meter">, now: Date): Headline[] => {
  const failed = dependencies.failed();
  const groups = Object.entries(Object.groupBy(failed, ({ trouble }) => trouble));
  const open = meter
    .openCircuits()
    .filter((backend) => dependencies.isUsed(backend) && failed.every(({ name }) => name !== backend));
  return [
    ...groups.map(([trouble, alike = []]) => dependencyHeadline(trouble, alike, now)),
    ...(open.length > 0 ? [circuitHeadline(open)] : []),
  ];
};

type Failed = ReturnType<Core["dependencies"]["failed"]>;

/** Dependencies whose failure has the same words: it lasts since the first of them failed. */
const dependencyHeadline = (trouble: string, alike: Failed, now: Date): Headline => {
  const since = alike.map((failure) => failure.since).toSorted()[0] ?? "";
  const effects = alike.map(({ effect }) => effect).join("; ");
  return {
    heading: html`${trouble} since ${timeOfDay(since, now)}: ${effects}`,
    why: alike.flatMap(({ why }) => why ?? []).join("; "),
    isTrouble: true,
  };
};

const circuitHeadline = (backends: readonly string[]): Headline => {
  const names = enumerate(backends).join("");
  const fails = backends.length === 1 ? "fails: its circuit breaker is" : "fail: their circuit breakers are";
  return { heading: html`${names.charAt(0).toUpperCase()}${names.slice(1)} ${fails} open`, isTrouble: true };
};

/** The share of answers with a 5xx that is no trouble yet: the objective of deploy/alerts.yaml. */
const MAX_ERROR_RATIO = 0.001;

/** The answers of both interfaces in the last minutes. `isShared`: other gateways may have answered more. */
const trafficNumbers = (traffic: Traffic, isShared: boolean): OverviewNumber[] => {
  const [ours, proxied] = [traffic.all(), traffic.proxied()];
  const errors = ours.errors + proxied.errors;
  const ofWhom = (share: string): string => `${share} proxied${isShared ? "; this gateway" : ""}`;
  return [
    {
      order: 40,
      name: `requests / s, ${RECENT}`,
      value: rate(ours.rate + proxied.rate),
      about: ofWhom(rate(proxied.rate)),
    },
    {
      order: 41,
      name: `5xx, ${RECENT}`,
      value: formatNumber(errors),
      about: ofWhom(formatNumber(proxied.errors)),
      isTrouble: errors > MAX_ERROR_RATIO * (ours.requests + proxied.requests),
    },
    {
      order: 42,
      name: `hits, ${RECENT}`,
      value: percent(ours.hits / ours.requests),
      ...(isShared && { about: "this gateway" }),
    },
  ];
};

type ReadsView = ReturnType<NonNullable<Core["readCounts"]>["view"]>;

/**
 * The reads of old clients; while legacy is in trouble, how many the cache answered and how many failed.
 */
const readsNumber = ({ requests, hits, trouble }: ReadsView, now: Date): OverviewNumber => ({
  order: 43,
  name: "reads of old clients",
  value: formatNumber(requests),
  about:
    trouble === undefined
      ? `${percent(hits / requests)} hits`
      : `since ${timeOfDay(trouble.since, now)}: ${formatNumber(trouble.cached)} from the cache, ${formatNumber(trouble.failed)} failed`,
  isTrouble: (trouble?.failed ?? 0) > 0,
});

/** The size of the cache against its bounds, and the lifetimes of its answers. */
const cacheSection = (cache: CacheView, now: Date): PageSection => ({
  order: 60,
  id: "cache",
  title: "Cache",
  count: cache.entries,
  about: "Answers in the memory of this gateway, and how long those of each endpoint hold.",
  content: html`${cacheSize(cache, now)} ${lifetimesTable(cache)}`,
});

const cacheSize = ({ bytes: taken, bound, entries, evicted, shared, forFailureOnly }: CacheView, now: Date): Html => {
  const share = bound.bytes === 0 ? 0 : taken / bound.bytes;
  const tier = shared === undefined ? "" : `; the shared tier is ${shared}`;
  // Redis was away, and an invalidation may have been missed.
  const doubt =
    forFailureOnly &&
    `; since ${timeOfDay(forFailureOnly.since, now)} ${counted(forFailureOnly.entries, "answer")} for legacy’s failure only`;
  return html`<p>
    <strong>${bytes(taken)}</strong> of ${bytes(bound.bytes)} ${fillBar(share, "of the room is taken")}
    <span class="where"
      >${counted(entries, "answer")}, ${formatNumber(evicted)} pushed out, of at most ${bytes(bound.entryBytes)}
      each${tier}${doubt ?? ""}</span
    >
  </p>`;
};

const lifetimesTable = ({ lifetimes }: CacheView): Html => {
  const heads = ["endpoint", "fresh", "stale", "stale if error", "404, 410", "412"];
  return html`<details class="lifetimes" data-key="lifetimes">
    <summary>How long answers hold</summary>
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${Object.entries(lifetimes).map(lifetimesRow)}
      </tbody>
    </table>
  </details>`;
};

const lifetimesRow = ([endpoint, lifetimes]: [string, CacheView["lifetimes"][string]]): Html => {
  const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = lifetimes;
  const cells = [fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl];
  return html`<tr data-key="${endpoint}">
    <th scope="row">${endpoint}</th>
    ${cells.map((lifetime) => html`<td>${lifetime ?? "–"}</td>`)}
  </tr>`;
};

/** Proxies that the page names: anybody may send forwarded headers. */
const MAX_NAMED = 3;

const noticesOf = (proxies: readonly UntrustedProxy[]): Html[] => proxies.slice(0, MAX_NAMED).map(proxyNotice);

const proxyNotice = ({ address, requests }: UntrustedProxy): Html =>
  html`<code>${address}</code> sent forwarded headers in ${counted(requests, "request")}, and is not trusted: all
    callers behind it look like one. If it is your proxy, set <code>TRUSTED_PROXIES=${address}</code>, or its network.`;

const offSection = ({ setting, effect, section: about }: WhenOff): PageSection[] => {
  if (about === undefined) return [];
  const content = html`<p class="none"><code>${setting}</code> is not set: ${effect}.</p>`;
  return [{ ...about, order: 100, count: 0, content }];
};

type Rendering = { now: Date; query: URLSearchParams; address: string; about: Html };

/** The page is complete without a script; the script keeps the regions marked `data-live` up to date. */
const contentOf = (
  parts: readonly PagePart[],
  { now, query, address, about }: Rendering,
): { title: Html; content: Html } => {
  const shown = parts.map((part) => part.show(now, query, address));
  const sections = shown.flatMap((part) => part.sections).toSorted((a, b) => a.order - b.order);
  const numbers = shown.flatMap((part) => part.numbers ?? []).toSorted((a, b) => a.order - b.order);
  const notices = shown.flatMap((part) => part.notices ?? []);
  const headline = joinHeadlines(shown.flatMap((part) => part.headlines ?? []));
  const content = html`${skipLink(sections[0])} ${connection()}
    <header id="overview" data-live>
      <p class="where">
        ${about}, as of <time datetime="${now.toISOString()}">${now.toISOString().slice(11, 19)} UTC</time>
      </p>
      ${headlineBlock(headline)}
      <dl class="numbers">${numbers.map(numberItem)}</dl>
      ${notices.map((notice) => html`<p class="notice" role="note">${notice}</p>`)}
    </header>
    <nav class="contents" id="contents" data-live aria-label="Sections">
      <ul>
        ${sections.map(contentsItem)}
      </ul>
    </nav>
    <main id="main" data-live>${sections.map(section)}</main>`;
  // Without its links; it is escaped already.
  return { title: raw(String(headline.heading).replaceAll(/<[^>]*>/g, "")), content };
};

const skipLink = ({ id, title }: Pick<PageSection, "id" | "title"> = { id: "main", title: "content" }): Html =>
  html`<a class="skip" href="#${id}">Skip to the ${title.toLowerCase()}</a>`;

const connection = (): Html =>
  html`<div class="connection where">
    <p id="connection" role="status">
      <noscript>Without a script this page shows one moment: reload it to see the next.</noscript>
    </p>
    <button type="button" id="sign-out" class="scripted" hidden>Sign out</button>
  </div>`;

const headlineBlock = ({ heading, why }: JoinedHeadline): Html =>
  html`<h1>${heading}</h1>
    ${why === "" ? "" : html`<p class="where">${why}</p>`}`;

const numberItem = ({ name, value, about, isTrouble }: OverviewNumber): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd class="${isTrouble ? "trouble" : ""}">${value}</dd>
    ${about === undefined ? "" : html`<dd class="where">${about}</dd>`}
  </div>`;

const contentsItem = ({ id, title, count }: PageSection): Html =>
  html`<li>
    <a href="#${id}">${title} <span class="count">${formatNumber(count)}</span></a>
  </li>`;

type JoinedHeadline = { heading: Html; why: string };

/** All troubles in one, else the first headline. */
const joinHeadlines = (headlines: readonly Headline[]): JoinedHeadline => {
  const troubles = headlines.filter(({ isTrouble }) => isTrouble);
  const shown = troubles.length > 0 ? troubles : headlines.slice(0, 1);
  if (shown.length === 0) return { heading: html`Legacy answers everything`, why: "" };
  return {
    heading: html`${shown.map(({ heading }, i) => html`${i === 0 ? "" : "; "}${heading}`)}`,
    why: shown.flatMap(({ why }) => why || []).join("; "),
  };
};

const signInForm = (): Html =>
  html`<main class="sign-in">
    <form id="sign-in" autocomplete="off">
      <h1>Gateway</h1>
      <p class="about">
        This gateway’s operators have a token, <code>ADMIN_TOKEN</code>. It is kept for this tab alone.
      </p>
      <p class="scripted">
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="current-password" />
      </p>
      <p class="trouble" role="alert"></p>
      <p class="scripted"><button type="submit" class="main">Sign in</button></p>
      <noscript>
        <p class="about">
          Signing in needs a script. Without one: <code>curl -H "Authorization: Bearer $ADMIN_TOKEN"</code> and this
          address.
        </p>
      </noscript>
    </form>
  </main>`;
