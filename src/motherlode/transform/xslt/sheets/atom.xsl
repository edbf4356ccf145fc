<?xml version="1.0" encoding="UTF-8"?>
<!-- Atom (RFC 4287) and Atom 0.3 in the vocabulary of RSS 1.0 with Dublin Core and FOAF; see docs/transforms.md.
     Time must be linear in the size of the document: no union of two long lists, no search through all siblings. -->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:rss="http://purl.org/rss/1.0/"
    xmlns:content="http://purl.org/rss/1.0/modules/content/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:dcterms="http://purl.org/dc/terms/"
    xmlns:foaf="http://xmlns.com/foaf/0.1/"
    xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#"
    xmlns:admin="http://webns.net/mvcb/"
    xmlns:a="http://www.w3.org/2005/Atom"
    xmlns:old="http://purl.org/atom/ns#"
    xmlns:xhtml="http://www.w3.org/1999/xhtml"
    xmlns:f="urn:motherlode:functions"
    exclude-result-prefixes="a old xhtml f">

  <xsl:param name="base"/>
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:variable name="xsd">http://www.w3.org/2001/XMLSchema#</xsl:variable>
  <xsl:variable name="relations">http://www.iana.org/assignments/relation/</xsl:variable>

  <xsl:template match="/">
    <rdf:RDF>
      <xsl:apply-templates select="a:feed | old:feed"/>
      <xsl:apply-templates select="*/*[self::a:entry or self::old:entry]" mode="whole"/>
      <xsl:apply-templates select="*[self::a:entry or self::old:entry]" mode="whole"/>
    </rdf:RDF>
  </xsl:template>

  <xsl:template match="a:feed | old:feed">
    <rss:channel rdf:about="{$base}">
      <xsl:call-template name="base"/>
      <xsl:apply-templates select="*"/>
      <xsl:if test="a:entry or old:entry">
        <rss:items>
          <rdf:Seq>
            <xsl:for-each select="*[self::a:entry or self::old:entry]">
              <rdf:li>
                <xsl:call-template name="name">
                  <xsl:with-param name="attribute">rdf:resource</xsl:with-param>
                </xsl:call-template>
              </rdf:li>
            </xsl:for-each>
          </rdf:Seq>
        </rss:items>
      </xsl:if>
    </rss:channel>
  </xsl:template>

  <xsl:template match="a:entry | old:entry" mode="whole">
    <rss:item>
      <xsl:call-template name="base"/>
      <xsl:call-template name="name">
        <xsl:with-param name="attribute">rdf:about</xsl:with-param>
      </xsl:call-template>
      <xsl:apply-templates select="*"/>
    </rss:item>
  </xsl:template>

  <!-- The subject of an entry is its id, otherwise its link, otherwise a blank node. -->
  <xsl:template name="name">
    <xsl:param name="attribute"/>
    <xsl:variable name="id" select="normalize-space(*[self::a:id or self::old:id])"/>
    <xsl:variable name="link" select="normalize-space(*[self::a:link or self::old:link][not(@rel) or @rel = 'alternate'][1]/@href)"/>
    <xsl:choose>
      <xsl:when test="contains($id, ':') and not(contains($id, ' '))">
        <xsl:attribute name="{$attribute}"><xsl:value-of select="$id"/></xsl:attribute>
      </xsl:when>
      <xsl:when test="$link != ''">
        <xsl:attribute name="{$attribute}"><xsl:value-of select="$link"/></xsl:attribute>
      </xsl:when>
      <xsl:otherwise>
        <xsl:attribute name="rdf:nodeID"><xsl:value-of select="generate-id()"/></xsl:attribute>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="base">
    <xsl:copy-of select="(ancestor-or-self::*/@xml:base)[last()]"/>
  </xsl:template>

  <xsl:template name="language">
    <xsl:copy-of select="(ancestor-or-self::*/@xml:lang)[last()]"/>
  </xsl:template>

  <xsl:template name="date">
    <xsl:variable name="date" select="f:date(string(.))"/>
    <xsl:choose>
      <xsl:when test="$date != ''">
        <xsl:attribute name="rdf:datatype">
          <xsl:value-of select="$xsd"/>
          <xsl:choose>
            <xsl:when test="contains($date, 'T')">dateTime</xsl:when>
            <xsl:otherwise>date</xsl:otherwise>
          </xsl:choose>
        </xsl:attribute>
        <xsl:value-of select="$date"/>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="normalize-space()"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- A text construct: XHTML becomes an XML literal; escaped markup stays text. -->
  <xsl:template name="construct">
    <xsl:call-template name="language"/>
    <xsl:choose>
      <xsl:when test="xhtml:div">
        <xsl:attribute name="rdf:parseType">Literal</xsl:attribute>
        <xsl:copy-of select="xhtml:div/node()"/>
      </xsl:when>
      <xsl:when test="*">
        <xsl:attribute name="rdf:parseType">Literal</xsl:attribute>
        <xsl:copy-of select="node()"/>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="."/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template match="*" priority="-2"/>
  <xsl:template match="a:entry | old:entry"/>

  <xsl:template match="a:title[normalize-space()] | old:title[normalize-space()]">
    <rss:title><xsl:call-template name="language"/><xsl:value-of select="normalize-space()"/></rss:title>
  </xsl:template>
  <xsl:template match="a:subtitle[normalize-space()] | a:summary[normalize-space()] | old:tagline[normalize-space()] | old:summary[normalize-space()]">
    <rss:description><xsl:call-template name="construct"/></rss:description>
  </xsl:template>
  <xsl:template match="a:rights[normalize-space()] | old:copyright[normalize-space()]">
    <dc:rights><xsl:call-template name="construct"/></dc:rights>
  </xsl:template>
  <xsl:template match="a:id[normalize-space()] | old:id[normalize-space()]">
    <dc:identifier><xsl:value-of select="normalize-space()"/></dc:identifier>
  </xsl:template>
  <xsl:template match="a:published[normalize-space()] | old:issued[normalize-space()]">
    <dc:date><xsl:call-template name="date"/></dc:date>
  </xsl:template>
  <xsl:template match="old:created[normalize-space()]">
    <dcterms:created><xsl:call-template name="date"/></dcterms:created>
  </xsl:template>
  <xsl:template match="a:updated[normalize-space()] | old:modified[normalize-space()]">
    <dcterms:modified><xsl:call-template name="date"/></dcterms:modified>
  </xsl:template>
  <xsl:template match="a:generator[normalize-space()] | old:generator[normalize-space()]">
    <admin:generatorAgent><xsl:value-of select="normalize-space()"/></admin:generatorAgent>
  </xsl:template>
  <xsl:template match="a:icon[normalize-space()] | a:logo[normalize-space()]">
    <foaf:logo rdf:resource="{normalize-space()}"/>
  </xsl:template>
  <xsl:template match="a:category[normalize-space(@term)]">
    <dc:subject><xsl:value-of select="normalize-space(@term)"/></dc:subject>
    <xsl:if test="normalize-space(@label) and normalize-space(@label) != normalize-space(@term)">
      <dc:subject><xsl:call-template name="language"/><xsl:value-of select="normalize-space(@label)"/></dc:subject>
    </xsl:if>
  </xsl:template>
  <xsl:template match="a:source[normalize-space(a:id)]">
    <dc:source rdf:resource="{normalize-space(a:id)}"/>
  </xsl:template>

  <xsl:template match="a:author | old:author">
    <xsl:if test="normalize-space(*[self::a:name or self::old:name])">
      <dc:creator><xsl:value-of select="normalize-space(*[self::a:name or self::old:name])"/></dc:creator>
    </xsl:if>
    <xsl:if test="a:uri or a:email or old:url or old:email">
      <foaf:maker><xsl:call-template name="person"/></foaf:maker>
    </xsl:if>
  </xsl:template>
  <xsl:template match="a:contributor[normalize-space(a:name)] | old:contributor[normalize-space(old:name)]">
    <dc:contributor><xsl:value-of select="normalize-space(*[self::a:name or self::old:name])"/></dc:contributor>
  </xsl:template>
  <xsl:template name="person">
    <foaf:Agent>
      <xsl:call-template name="base"/>
      <xsl:if test="normalize-space(*[self::a:name or self::old:name])">
        <foaf:name><xsl:value-of select="normalize-space(*[self::a:name or self::old:name])"/></foaf:name>
      </xsl:if>
      <xsl:if test="normalize-space(*[self::a:uri or self::old:url])">
        <foaf:homepage rdf:resource="{normalize-space(*[self::a:uri or self::old:url])}"/>
      </xsl:if>
      <xsl:if test="contains(*[self::a:email or self::old:email], '@')">
        <foaf:mbox rdf:resource="mailto:{normalize-space(*[self::a:email or self::old:email])}"/>
      </xsl:if>
    </foaf:Agent>
  </xsl:template>

  <xsl:template match="a:content[normalize-space() or *] | old:content[normalize-space() or *]">
    <xsl:if test="not(@type) or @type = 'text' or @type = 'html' or @type = 'xhtml' or starts-with(@type, 'text/') or *">
      <content:encoded><xsl:call-template name="construct"/></content:encoded>
    </xsl:if>
  </xsl:template>
  <xsl:template match="a:content[normalize-space(@src)]" priority="1">
    <xsl:call-template name="file">
      <xsl:with-param name="address" select="@src"/>
    </xsl:call-template>
  </xsl:template>

  <xsl:template name="file">
    <xsl:param name="address"/>
    <enc:enclosure>
      <xsl:call-template name="base"/>
      <rdf:Description rdf:about="{normalize-space($address)}">
        <xsl:if test="@type"><enc:type><xsl:value-of select="@type"/></enc:type></xsl:if>
        <xsl:if test="@length"><enc:length><xsl:value-of select="@length"/></enc:length></xsl:if>
      </rdf:Description>
    </enc:enclosure>
  </xsl:template>

  <xsl:template match="a:link[normalize-space(@href)] | old:link[normalize-space(@href)]">
    <xsl:variable name="given" select="normalize-space(@rel)"/>
    <xsl:variable name="rel">
      <xsl:choose>
        <xsl:when test="starts-with($given, $relations)"><xsl:value-of select="substring-after($given, $relations)"/></xsl:when>
        <xsl:otherwise><xsl:value-of select="$given"/></xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <xsl:choose>
      <xsl:when test="$rel = '' or $rel = 'alternate'">
        <rss:link rdf:resource="{normalize-space(@href)}"><xsl:call-template name="base"/></rss:link>
      </xsl:when>
      <xsl:when test="$rel = 'enclosure'">
        <xsl:call-template name="file">
          <xsl:with-param name="address" select="@href"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:when test="translate($rel, 'abcdefghijklmnopqrstuvwxyz', '') = ''">
        <xsl:element name="{$rel}" namespace="{$relations}">
          <xsl:call-template name="base"/>
          <xsl:attribute name="rdf:resource"><xsl:value-of select="normalize-space(@href)"/></xsl:attribute>
        </xsl:element>
      </xsl:when>
      <xsl:otherwise>
        <rdfs:seeAlso rdf:resource="{normalize-space(@href)}"><xsl:call-template name="base"/></rdfs:seeAlso>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Elements of other namespaces become properties with their own names. -->
  <xsl:template match="*[namespace-uri() != '' and not(*)]" priority="-1">
    <xsl:variable name="address" select="normalize-space((@rdf:resource | @href | @url)[1])"/>
    <xsl:variable name="known" select="self::a:* or self::old:* or self::rdf:*"/>
    <xsl:if test="not($known) and ($address != '' or normalize-space() != '')">
      <xsl:element name="{local-name()}" namespace="{namespace-uri()}">
        <xsl:call-template name="base"/>
        <xsl:choose>
          <xsl:when test="$address != ''">
            <xsl:attribute name="rdf:resource"><xsl:value-of select="$address"/></xsl:attribute>
          </xsl:when>
          <xsl:when test="self::dc:date or self::dcterms:created or self::dcterms:issued or self::dcterms:modified">
            <xsl:call-template name="date"/>
          </xsl:when>
          <xsl:otherwise><xsl:call-template name="language"/><xsl:value-of select="."/></xsl:otherwise>
        </xsl:choose>
      </xsl:element>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
